/** Keys that are held during a click, drag or scroll: added to an action, taken from it, or still down from earlier steps; pure. */

import type { Action, Step } from "@/generated/vocabulary";

/** Keys a person can hold with one key of the workspace. */
export const HOLDABLE_KEYS = ["ctrl", "shift", "alt", "super"] as const;
export type HoldableKey = (typeof HOLDABLE_KEYS)[number];

const CLICKS = {
  click: { button: "left", clicks: 1 },
  double_click: { button: "left", clicks: 2 },
  triple_click: { button: "left", clicks: 3 },
  right_click: { button: "right", clicks: 1 },
  middle_click: { button: "middle", clicks: 1 },
} as const;
const SIGNS = { down: { dx: 0, dy: 1 }, up: { dx: 0, dy: -1 }, right: { dx: 1, dy: 0 }, left: { dx: -1, dy: 0 } } as const;

type ActionWithKeys = Extract<Action, { keys: string[] }> & { kind: "mouse_click" | "drag_path" | "scroll_by" };

/** The action in the form that can hold keys; null for one that cannot. */
function formWithKeys(action: Action): ActionWithKeys | null {
  switch (action.kind) {
    case "click":
    case "double_click":
    case "triple_click":
    case "right_click":
    case "middle_click":
      return { kind: "mouse_click", point: { x: action.x, y: action.y }, ...CLICKS[action.kind], keys: [] };
    case "drag":
      return { kind: "drag_path", points: [action.start, action.end], button: action.button, keys: [] };
    case "scroll": {
      const { dx, dy } = SIGNS[action.direction];
      return { kind: "scroll_by", point: action.point, dx: dx * action.amount, dy: dy * action.amount, unit: "notches", keys: [] };
    }
    case "mouse_click":
    case "drag_path":
    case "scroll_by":
      return action;
    default:
      return null;
  }
}

/** The action with exactly these keys held; itself where it can hold none, or has none and is to have none. */
export function withHeldKeys(action: Action, keys: readonly string[]): Action {
  const form = formWithKeys(action);
  if (form === null || (keys.length === 0 && form !== action)) return action;
  return keys.length > 0 ? { ...form, keys: [...keys] } : plainForm({ ...form, keys: [] });
}

/** The keys an action holds; null where it can hold none. */
export function heldKeysOf(action: Action | null): readonly string[] | null {
  return action === null ? null : (formWithKeys(action)?.keys ?? null);
}

/** The plain action that means the same, where there is one. */
function plainForm(form: ActionWithKeys): Action {
  if (form.kind === "mouse_click" && form.point !== null) {
    const { point, button, clicks } = form;
    const kinds = Object.keys(CLICKS) as (keyof typeof CLICKS)[];
    const kind = kinds.find((each) => CLICKS[each].button === button && CLICKS[each].clicks === clicks);
    return kind === undefined ? form : { kind, ...point };
  }
  if (form.kind === "drag_path") {
    const [start, end, ...more] = form.points;
    return start && end && more.length === 0 ? { kind: "drag", start, end, button: form.button } : form;
  }
  return form;
}

/** The keys that earlier steps pressed and did not release. A takeover and a failed step let go of all. */
export function keysLeftDown(steps: readonly Step[]): string[] {
  let down: string[] = [];
  for (const { action, error, after } of steps) {
    if (action.kind === "gesture" || (error !== null && after !== null && action.kind !== "no_action")) down = [];
    else if (action.kind === "press") down = [...down.filter((key) => key !== action.key), action.key];
    else if (action.kind === "release") down = down.filter((key) => key !== action.key);
  }
  return down;
}
