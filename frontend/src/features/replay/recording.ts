/** Where steps are in an episode's video, and which step a moment of it shows; pure. */
import type { RecordingPart } from "@/generated/api";

/** A moment of the video: which file, and how far into it (seconds). */
export type VideoPosition = { readonly part: number; readonly at: number };

/** Where a step begins, or with `after` where it has ended; null where the video does not show it. */
export function positionOf(parts: readonly RecordingPart[], step: number, after: boolean): VideoPosition | null {
  for (const [part, { steps }] of parts.entries()) {
    const mark = steps.find(({ index }) => index === step);
    if (mark) return { part, at: after ? mark.ends : mark.begins };
  }
  return null;
}

/** The step that began last before a moment; null before the first. */
export function stepAt(parts: readonly RecordingPart[], { part, at }: VideoPosition): number | null {
  for (let earlier = part; earlier >= 0; earlier -= 1) {
    const begun = parts[earlier]?.steps.filter(({ begins }) => earlier < part || begins <= at + TOLERANCE);
    const last = begun?.at(-1);
    if (last) return last.index;
  }
  return null;
}

/** Whether a step's act is under way at a moment. */
export function isActing(parts: readonly RecordingPart[], { part, at }: VideoPosition, step: number): boolean {
  const mark = parts[part]?.steps.find(({ index }) => index === step);
  return mark !== undefined && at >= mark.begins - TOLERANCE && at < Math.max(mark.ends, mark.begins + MIN_MARK_SECONDS);
}

/** A player stops a little before the moment it was sent to. */
const TOLERANCE = 0.05;

/** How long a quick act is marked, so that it can be seen (seconds). */
const MIN_MARK_SECONDS = 0.8;
