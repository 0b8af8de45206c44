/** What an action looks like on the picture; pure. */

import type { Action, Direction, Point } from "@/generated/vocabulary";

export type RingGlyph = "click" | "double" | "triple" | "right" | "middle" | "move" | "down" | "up" | "hold";

/** Points are pixels of the picture; null where the action names none and the last pointed place stands in. */
export type Marker =
  | { readonly shape: "ring"; readonly at: Point | null; readonly glyph: RingGlyph; readonly note?: string }
  | { readonly shape: "arrow"; readonly from: Point; readonly to: Point }
  | { readonly shape: "chevron"; readonly at: Point | null; readonly direction: Direction; readonly amount: number; readonly note?: string }
  | { readonly shape: "caret"; readonly at: Point | null; readonly text: string }
  | { readonly shape: "path"; readonly points: readonly Point[]; readonly ends?: boolean; readonly note?: string };

const GLYPHS = {
  click: "click",
  double_click: "double",
  triple_click: "triple",
  right_click: "right",
  middle_click: "middle",
  move_to: "move",
  long_press: "hold",
} as const;

const CLICKED: Readonly<Record<string, RingGlyph>> = { left2: "double", left3: "triple", right1: "right", middle1: "middle" };

const SIDE_BUTTONS = { back: "⇦", forward: "⇨" } as const;

/** What stands beside a marker: held keys, a side button, a distance. Empty where there is nothing to say. */
function noteOf(parts: readonly string[]): string {
  return parts.join("+");
}

function distanceOf({ dx, dy, unit }: { dx: number; dy: number; unit: "pixels" | "notches" }): string {
  const way = dx !== 0 && dy !== 0 ? `${Math.abs(dx)}, ${Math.abs(dy)}` : `${Math.abs(dx) || Math.abs(dy)}`;
  return unit === "pixels" ? `${way} px` : `×${way}`;
}

/** The way a scroll on both axes goes furthest. */
function directionOf({ dx, dy }: { dx: number; dy: number }): Direction {
  if (Math.abs(dx) > Math.abs(dy)) return dx > 0 ? "right" : "left";
  return dy > 0 ? "down" : "up";
}

/** The marker of an action; null for one that happens nowhere on the picture. */
export function markerOf(action: Action): Marker | null {
  switch (action.kind) {
    case "click":
    case "double_click":
    case "triple_click":
    case "right_click":
    case "middle_click":
    case "move_to":
    case "long_press":
      return { shape: "ring", at: { x: action.x, y: action.y }, glyph: GLYPHS[action.kind] };
    case "mouse_down":
    case "mouse_up":
      return { shape: "ring", at: action.point, glyph: action.kind === "mouse_down" ? "down" : "up" };
    case "drag":
    case "swipe":
      return { shape: "arrow", from: action.start, to: action.end };
    case "mouse_click":
      return {
        shape: "ring",
        at: action.point,
        glyph: CLICKED[`${action.button}${action.clicks}`] ?? "click",
        note: noteOf([...action.keys, ...(action.button === "back" || action.button === "forward" ? [SIDE_BUTTONS[action.button]] : [])]),
      };
    case "drag_path":
      return { shape: "path", points: action.points, ends: true, note: noteOf(action.keys) };
    case "zoom": {
      const { start, end } = action;
      return { shape: "path", points: [start, { x: end.x, y: start.y }, end, { x: start.x, y: end.y }, start] };
    }
    case "scroll_by":
      return { shape: "chevron", at: action.point, direction: directionOf(action), amount: 1, note: noteOf([...action.keys, distanceOf(action)]) };
    case "scroll":
      return { shape: "chevron", at: action.point, direction: action.direction, amount: action.amount };
    case "type_text":
      return { shape: "caret", at: null, text: action.text };
    case "press_keys":
      return { shape: "caret", at: null, text: action.keys.join("+") };
    case "press":
      return { shape: "caret", at: null, text: `${action.key} ↓` };
    case "release":
      return { shape: "caret", at: null, text: `${action.key} ↑` };
    case "gesture":
      return { shape: "path", points: action.inputs.flatMap(({ input }) => pointOf(input)) };
    default:
      return null;
  }
}

function pointOf(input: Action): Point[] {
  if (input.kind === "move_to") return [{ x: input.x, y: input.y }];
  return "point" in input && input.point !== null ? [input.point] : [];
}

/** Where a marker's number stands. */
export function anchorOf(marker: Marker, fallback: Point): Point {
  if (marker.shape === "arrow") return marker.from;
  if (marker.shape === "path") return marker.points[0] ?? fallback;
  return marker.at ?? fallback;
}

/** Where the last act pointed: text typed now most likely lands there. */
export function lastPointed(actions: readonly Action[]): Point | null {
  for (const action of actions.toReversed()) {
    if ("x" in action) return { x: action.x, y: action.y };
    if (action.kind === "drag_path") return action.points.at(-1) ?? null;
    if (action.kind === "mouse_click" && action.point) return action.point;
    if (action.kind === "drag" || action.kind === "swipe") return action.end;
    if (action.kind === "gesture") return action.inputs.flatMap(({ input }) => pointOf(input)).at(-1) ?? null;
  }
  return null;
}

/** Numbers at one place stand this far (CSS pixels) apart. */
export const BADGE_STEP = 20;

/** How far (CSS pixels) each of several anchors is moved so that numbers at one place stay readable. */
export function spread(anchors: readonly Point[], near = 18): Point[] {
  return anchors.map((anchor, index) => {
    const before = anchors.slice(0, index).filter((other) => Math.hypot(other.x - anchor.x, other.y - anchor.y) < near);
    return { x: before.length * BADGE_STEP, y: 0 };
  });
}
