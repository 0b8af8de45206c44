/** The level that follows from a rubric; pure functions, by the scale that the server has. */
import type { Rubric, RubricScale } from "@/generated/api";

export const RUBRIC_FIELDS = ["steps", "pages", "prerequisites", "exceptions"] as const satisfies readonly (keyof Rubric)[];

type Filled = Readonly<Record<(typeof RUBRIC_FIELDS)[number], number>>;

export function pointsOf(rubric: Filled, { steps_of, max_points }: RubricScale): number {
  const steps = steps_of.filter((bound) => rubric.steps > bound).length;
  const others = [rubric.pages, rubric.prerequisites, rubric.exceptions].map((count) => Math.min(count, max_points));
  return others.reduce((sum, points) => sum + points, steps);
}

/** 1, easy, to 5. */
export const levelOf = (points: number, { level_of }: RubricScale): number => 1 + level_of.filter((bound) => points > bound).length;
