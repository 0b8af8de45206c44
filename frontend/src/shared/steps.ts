/** Which steps count, and what they still lack. */
import type { EpisodeState, Step } from "@/generated/vocabulary";

/** The steps that count: all but undone ones. */
export function withoutUndone<S extends { readonly undone: boolean }>(steps: readonly S[]): S[] {
  return steps.filter(({ undone }) => !undone);
}

/** The steps whose thought is still missing. The person who decided on the step (`acted_by`) writes it. */
export function withOwedThoughts(steps: readonly Step[], actedBy: string | null): Step[] {
  return withoutUndone(steps).filter(({ thought_timing: timing, acted_by: by }) => timing === "owed" && by === actedBy);
}

/** Whether a step needs its thought before it is done. */
export function needsThoughtFirst(episode: Pick<EpisodeState, "thought_required" | "thought_later">): boolean {
  return episode.thought_required && !episode.thought_later;
}
