/** Why the last step cannot be taken back, known before it is tried; pure. */
import type { EpisodeState, Step } from "@/generated/vocabulary";

export type UndoProblem = "cannot_undo" | "nothing_to_undo" | "undo_blocked";

/** Null where it can be taken back, as far as is known. `steps` are those that count. */
export function undoProblem({ can_undo: able, undo_blocked: blocked }: EpisodeState, steps: readonly Step[]): UndoProblem | null {
  if (!able) return "cannot_undo";
  if (steps.length === 0) return "nothing_to_undo";
  return blocked ? "undo_blocked" : null;
}
