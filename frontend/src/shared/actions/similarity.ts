/** How near two actions are: which candidate's thought fits what a person does instead. */

import type { Action, Point, Proposal } from "@/generated/vocabulary";

import { pointsOf } from "./words";

export function distance(first: Point, second: Point): number {
  return Math.hypot(first.x - second.x, first.y - second.y);
}

/** The candidate of the same kind whose points lie nearest; none where no candidate is of that kind. */
export function nearestProposal(action: Action, proposals: readonly Proposal[]): Proposal | null {
  let best: Proposal | null = null;
  let least = Infinity;
  for (const proposal of proposals) {
    if (proposal.action?.kind !== action.kind) continue;
    const gap = separation(action, proposal.action);
    if (gap < least) [best, least] = [proposal, gap];
  }
  return best;
}

function separation(first: Action, second: Action): number {
  const others = pointsOf(second);
  return pointsOf(first).reduce((sum, point, index) => {
    const other = others[index];
    return other === undefined ? sum : sum + distance(point, other);
  }, 0);
}
