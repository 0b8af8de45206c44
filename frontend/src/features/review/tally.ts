/** How two policies stand at the tasks both were given. Pure. */
import type { EpisodeSummary, SharedTask } from "@/generated/api";

export const TALLY = ["both", "left_only", "right_only", "neither", "unknown"] as const;
type Tally = Record<(typeof TALLY)[number], number>;

/** Whether an attempt did its task: the verifier's word, else its annotator's; null where nobody says. */
export function isSuccessful({ verdict, outcome }: Pick<EpisodeSummary, "verdict" | "outcome">): boolean | null {
  if (verdict?.success != null) return verdict.success;
  return outcome === "success" ? true : outcome === "failure" ? false : null;
}

/** How many tasks both did, only the one, only the other, and neither; and where one of the ends is not known. */
export function countTally(sharedTasks: readonly SharedTask[]): Tally {
  const tally: Tally = { both: 0, left_only: 0, right_only: 0, neither: 0, unknown: 0 };
  for (const { one, other } of sharedTasks) {
    const [left, right] = [isSuccessful(one.episode), isSuccessful(other.episode)];
    if (left === null || right === null) tally.unknown += 1;
    else if (left) tally[right ? "both" : "left_only"] += 1;
    else tally[right ? "right_only" : "neither"] += 1;
  }
  return tally;
}
