/** An action with one of its points elsewhere; points are numbered as `pointsOf` lists them. Pure. */
import type { Action, Point } from "@/generated/vocabulary";

/** The same action where it has no such point. */
export function movePoint(action: Action, index: number, to: Point): Action {
  if ("start" in action) return index === 0 ? { ...action, start: to } : index === 1 ? { ...action, end: to } : action;
  if ("points" in action) return { ...action, points: action.points.map((point, at) => (at === index ? to : point)) };
  if ("x" in action) return index === 0 ? { ...action, x: to.x, y: to.y } : action;
  return "point" in action && action.point && index === 0 ? { ...action, point: to } : action;
}
