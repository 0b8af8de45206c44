/** Which characters of a text a person took from the policy's continuation of it, while they go on editing; pure. */

/** From where to where, the end left out. */
export type TextRange = readonly [from: number, to: number];

/** The ranges after an edit: what was replaced is the person's own, what stands behind it moves. */
export function rangesAfterEdit(ranges: readonly TextRange[], before: string, after: string): readonly TextRange[] {
  const most = Math.min(before.length, after.length);
  let start = 0;
  while (start < most && before[start] === after[start]) start += 1;
  let same = 0;
  while (same < most - start && before[before.length - 1 - same] === after[after.length - 1 - same]) same += 1;
  const end = before.length - same;
  const moved = after.length - before.length;
  return ranges
    .flatMap(([from, to]): TextRange[] => [
      [from, Math.min(to, start)],
      [Math.max(from, end) + moved, to + moved],
    ])
    .filter(([from, to]) => to > from);
}

/** How many characters (code points, as the server counts) lie in the ranges, of the text without the space around it. */
export function countTaken(ranges: readonly TextRange[], text: string): number {
  const first = text.length - text.trimStart().length;
  const last = text.trimEnd().length;
  const taken = ranges.map(([from, to]) => text.slice(Math.max(from, first), Math.max(from, first, Math.min(to, last))));
  return taken.reduce((count, part) => count + Array.from(part).length, 0);
}

/** The first so many characters (code points) of a text, as ranges. */
export function rangesOfCount(text: string, count: number): readonly TextRange[] {
  return count > 0 ? [[0, Array.from(text).slice(0, count).join("").length]] : [];
}

/** Whether a stored value is a range. */
export function isRange(value: unknown): value is TextRange {
  return Array.isArray(value) && value.length === 2 && value.every((place) => Number.isSafeInteger(place) && (place as number) >= 0);
}
