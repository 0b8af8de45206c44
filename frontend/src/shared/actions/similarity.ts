/** Which candidate's thought fits what a person does instead: one for the same act on the same target. */

import type { Action, Point, Proposal } from "@/generated/vocabulary";

import { pointsOf } from "./words";

/** How far (pixels) two points may lie apart to be on one target: the least size of a target in WCAG 2.2, 2.5.8. */
const TARGET = 24;

function distance(first: Point, second: Point): number {
  return Math.hypot(first.x - second.x, first.y - second.y);
}

/** The nearest candidate for the same act on the same target; null where there is none. */
export function nearestProposal(action: Action, proposals: readonly Proposal[]): Proposal | null {
  let best: Proposal | null = null;
  let least = Infinity;
  for (const proposal of proposals) {
    if (proposal.action === null || !haveSameTarget(action, proposal.action)) continue;
    const gap = Math.max(0, ...separations(action, proposal.action));
    if (gap < least) [best, least] = [proposal, gap];
  }
  return best;
}

/** Whether two actions do the same to the same thing, so that one reason fits both; how far a scroll goes does not matter. */
export function haveSameTarget(first: Action, second: Action): boolean {
  return withoutPlaces(first) === withoutPlaces(second) && separations(first, second).every((gap) => gap <= TARGET);
}

const PLACES: ReadonlySet<string> = new Set(["x", "y", "point", "points", "start", "end", "amount"]);

function withoutPlaces(action: Action): string {
  const rest = Object.entries(action).filter(([name]) => !PLACES.has(name));
  return JSON.stringify([...rest.sort(([one], [other]) => one.localeCompare(other)), pointsOf(action).length]);
}

function separations(first: Action, second: Action): number[] {
  const others = pointsOf(second);
  return pointsOf(first).map((point, index) => {
    const other = others[index];
    return other === undefined ? Infinity : distance(point, other);
  });
}
