/** What a review says of each step, and where to look first. Pure. */
import type { ReviewDetails } from "@/generated/api";
import type { StepVerdict } from "@/generated/vocabulary";
import type { StepMark } from "@/shared/ui/episode/timeline";

type Judged = Pick<ReviewDetails, "remarks" | "fixes" | "segments">;

/** The last verdict on a step counts, whoever gave it. */
export function stepMarks({ remarks, fixes, segments }: Judged, count: number): Map<number, StepMark> {
  const verdicts = new Map<number, StepVerdict>();
  for (const { index, verdict } of [...remarks].sort((one, other) => one.round - other.round)) {
    if (verdict) verdicts.set(index, verdict);
  }
  const corrected = new Set(fixes.map(({ index }) => index));
  const marks = new Map<number, StepMark>();
  for (let index = 0; index < count; index++) {
    const cut = segments.length > 0 && !segments.some(({ first, last }) => first <= index && index <= last);
    const verdict = verdicts.get(index) ?? null;
    if (verdict || cut || corrected.has(index)) marks.set(index, { verdict, corrected: corrected.has(index), cut });
  }
  return marks;
}

/** Steps that the last decided round found wrong, in order; where it found none, those it commented on. */
export function faultySteps({ remarks, rounds }: Pick<ReviewDetails, "remarks" | "rounds">): number[] {
  const round = Math.max(0, ...rounds.map(({ number }) => number));
  const said = remarks.filter((remark) => remark.round === round);
  const wrong = said.filter(({ verdict }) => verdict !== null && verdict !== "right");
  const listed = wrong.length > 0 ? wrong : said.filter(({ comment }) => comment !== "");
  return [...new Set(listed.map(({ index }) => index))].sort((one, other) => one - other);
}
