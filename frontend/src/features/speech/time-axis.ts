/** Places on the time axis of a recorded session; pure. */
import type { LoudnessRun, SpeechOut, ThoughtOut, TimelineStep, WordOut } from "@/generated/api";

export const MAX_ZOOM = 64;

/** The step whose screen shows at a time: the first one that has not ended. */
export function stepAt(steps: readonly TimelineStep[], seconds: number): number {
  const found = steps.findIndex(({ end }) => end >= seconds);
  return found === -1 ? Math.max(0, steps.length - 1) : found;
}

/** The thought that is said at a time, or was said last before it; null before the first. */
export function thoughtAt(thoughts: readonly ThoughtOut[], seconds: number): number | null {
  const found = thoughts.findLastIndex(({ begin }) => begin <= seconds);
  return found === -1 ? null : found;
}

/** The zoom that is twice (half) as near. */
export const zoomBy = (zoom: number, factor: number) => Math.min(MAX_ZOOM, Math.max(1, zoom * factor));

/** `1:02.5`: minutes, and seconds with a tenth. */
export function clock(seconds: number): string {
  const tenths = Math.max(0, Math.round(seconds * 10));
  const minutes = Math.floor(tenths / 600);
  return `${minutes}:${String(Math.floor(tenths / 10) % 60).padStart(2, "0")}.${tenths % 10}`;
}

/** The outline of the loudness, around the middle of a box of `duration` by 2. */
export function wavePath(runs: readonly LoudnessRun[]): string {
  return runs.map(runPath).join("");
}

const rounded = (value: number) => Math.round(value * 1_000) / 1_000;

function runPath({ begin, rate, values }: LoudnessRun): string {
  const levels = Array.from(atob(values), (byte) => byte.charCodeAt(0) / 255);
  if (levels.length === 0) return "";
  const points = levels.flatMap((level, place) => [
    [begin + place / rate, level],
    [begin + (place + 1) / rate, level],
  ]);
  const draw = (sign: number) => ([seconds = 0, level = 0]: number[]) => `${rounded(seconds)} ${rounded(1 + sign * level)}`;
  return `M${points.map(draw(-1)).join("L")}L${points.toReversed().map(draw(1)).join("L")}Z`;
}

/** Marks of the axis: at most 12 in sight at a zoom. */
export function marksOf(duration: number, zoom: number): number[] {
  const room = duration / zoom / 12;
  const each = [0.5, 1, 2, 5, 10, 30, 60, 120, 300, 600, 1_800].find((step) => step >= room) ?? 3_600;
  return Array.from({ length: Math.floor(duration / each) + 1 }, (_, place) => place * each);
}

/** The steps that a person names, counted from 1: `2, 3`. Nothing named is none; null where it is no list of steps. */
export function readSteps(text: string, count: number): number[] | null {
  const names = text.split(/[\s,;，、]+/).filter(Boolean);
  const steps = names.map((name) => (/^\d{1,6}$/.test(name) ? Number(name) - 1 : -1));
  return steps.every((step) => step >= 0 && step < count) ? steps : null;
}

/** The places of all words that say the same as one of them. */
export function sameWords(words: readonly WordOut[], place: number): number[] {
  const bare = (text: string) => text.toLowerCase().replace(/^[\p{P}\p{S}]+|[\p{P}\p{S}]+$/gu, "");
  const wanted = bare(words[place]?.text ?? "");
  if (wanted === "") return [place];
  return words.flatMap(({ text }, index) => (bare(text) === wanted ? [index] : []));
}

/** The thought to look at after a change: the one that has this word. */
export function thoughtOfWord({ thoughts }: Pick<SpeechOut, "thoughts">, word: number): number {
  const found = thoughts.findIndex(({ first_word, last_word }) => first_word <= word && word <= last_word);
  return Math.max(0, found);
}
