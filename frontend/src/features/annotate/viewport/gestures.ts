/** Turns pointer and wheel into the action a person means: a small state machine, purely. */

import type { Action, Button, Direction, Point } from "@/generated/vocabulary";

/** `place` is in CSS pixels of the page, `pixel` in those of the picture; times are in milliseconds. */
interface Pointer {
  readonly place: Point;
  readonly pixel: Point;
  readonly at: number;
}

export type Input =
  | ({ readonly type: "down"; readonly button: Button } & Pointer)
  | ({ readonly type: "move" } & Pointer)
  | ({ readonly type: "up" } & Pointer)
  | ({ readonly type: "wheel"; readonly dx: number; readonly dy: number } & Pointer)
  | { readonly type: "held" }
  | { readonly type: "cancel" };

interface Click {
  readonly place: Point;
  readonly pixel: Point;
  readonly at: number;
  readonly count: number;
}

export type State =
  | { readonly name: "idle"; readonly last: Click | null }
  | { readonly name: "pressing"; readonly button: Button; readonly from: Pointer; readonly last: Click | null }
  | { readonly name: "dragging"; readonly button: Button; readonly from: Point; readonly to: Point }
  | { readonly name: "holding" }
  | { readonly name: "wheeling"; readonly pixel: Point; readonly at: number; readonly dx: number; readonly dy: number };

/**
 * What came of an input. `final` is false while the action may still become another one: a click a double click,
 * a scroll a longer one. `menu` asks for the choice of everything that can be done at a point.
 */
export type Outcome =
  | { readonly type: "nothing" }
  | { readonly type: "action"; readonly action: Action; readonly final: boolean }
  | { readonly type: "menu"; readonly pixel: Point };

export interface Result {
  readonly state: State;
  readonly outcome: Outcome;
}

export const IDLE: State = { name: "idle", last: null };
/** Pressing this long without moving asks for the menu, or is a long press on a touch screen. */
export const HOLD_MS = 600;
/** Clicks that follow each other within this time belong together; a wheel that rests so long has stopped. */
export const COALESCE_MS = 350;
/** A pointer that moved further than this (CSS pixels) is dragging. */
const SLACK = 5;
/** The same of a finger, which rolls while it presses. */
export const FINGER_SLACK = 12;
/** What browsers report for one notch of a common wheel. */
const NOTCH = 100;
const MAX_NOTCHES = 100;
const NOTHING: Outcome = { type: "nothing" };

/** What points: on a phone's picture mouse and finger swipe and press long instead of dragging, and know one button. */
export type Hand = "mouse" | "finger" | "phone";

/** The next state and what came of the input. */
export function reduceGesture(state: State, input: Input, hand: Hand = "mouse"): Result {
  switch (input.type) {
    case "cancel":
      return { state: IDLE, outcome: NOTHING };
    case "down":
      return {
        state: { name: "pressing", button: input.button, from: input, last: state.name === "idle" ? state.last : null },
        outcome: NOTHING,
      };
    case "held":
      return onHold(state, hand);
    case "move":
      return onMove(state, input, hand === "finger" ? FINGER_SLACK : SLACK);
    case "up":
      return onRelease(state, input, hand);
    case "wheel":
      return onWheel(state, input);
  }
}

function onHold(state: State, hand: Hand): Result {
  if (state.name !== "pressing" || state.button !== "left") return { state, outcome: NOTHING };
  const { pixel } = state.from;
  return { state: { name: "holding" }, outcome: HELD[hand](pixel) };
}

/** What a press of some time means: a finger has no second button, and a mouse asks for everything that can be done there. */
const HELD: Readonly<Record<Hand, (pixel: Point) => Outcome>> = {
  phone: (pixel) => ({ type: "action", action: { kind: "long_press", ...pixel, seconds: 1 }, final: true }),
  finger: (pixel) => ({ type: "action", action: press("right", pixel), final: true }),
  mouse: (pixel) => ({ type: "menu", pixel }),
};

function onMove(state: State, { place, pixel }: Pointer, slack: number): Result {
  if (state.name === "dragging") return { state: { ...state, to: pixel }, outcome: NOTHING };
  if (state.name !== "pressing" || near(place, state.from.place, slack)) return { state, outcome: NOTHING };
  return {
    state: { name: "dragging", button: state.button, from: state.from.pixel, to: pixel },
    outcome: NOTHING,
  };
}

function onRelease(state: State, input: Pointer, hand: Hand): Result {
  const touch = hand === "phone";
  if (state.name === "dragging") {
    const { from: start, button } = state;
    const end = input.pixel;
    const action: Action = touch ? { kind: "swipe", start, end } : { kind: "drag", start, end, button };
    return { state: IDLE, outcome: { type: "action", action, final: true } };
  }
  if (state.name !== "pressing") return { state: IDLE, outcome: NOTHING };
  if (state.button === "left" && input.at - state.from.at >= HOLD_MS) return { ...onHold(state, hand), state: IDLE };
  if (state.button === "left" && !touch) return onClick(state.last, state.from, input, hand === "finger" ? FINGER_SLACK : SLACK);
  if (state.button !== "left" && touch) return { state: IDLE, outcome: { type: "menu", pixel: state.from.pixel } };
  return { state: IDLE, outcome: { type: "action", action: press(state.button, state.from.pixel), final: true } };
}

/** A left click, or one more that belongs to the clicks before it. */
function onClick(last: Click | null, { pixel, place }: Pointer, { at }: Pointer, slack: number): Result {
  const again = last !== null && at - last.at < COALESCE_MS && near(place, last.place, slack);
  const click: Click = again
    ? { ...last, place, at, count: Math.min(last.count + 1, CLICKS.length) }
    : { place, pixel, at, count: 1 };
  const action: Action = { kind: CLICKS[click.count - 1] ?? "click", ...click.pixel };
  const outcome: Outcome = { type: "action", action, final: click.count === CLICKS.length };
  return { state: { name: "idle", last: click }, outcome };
}

const CLICKS = ["click", "double_click", "triple_click"] as const;

function press(button: Button, pixel: Point): Action {
  if (button === "right") return { kind: "right_click", ...pixel };
  return { kind: button === "middle" ? "middle_click" : "click", ...pixel };
}

function onWheel(state: State, input: Extract<Input, { type: "wheel" }>): Result {
  if (state.name !== "idle" && state.name !== "wheeling") return { state, outcome: NOTHING };
  const continues = state.name === "wheeling" && input.at - state.at < COALESCE_MS;
  const { dx, dy, pixel } = continues ? state : { dx: 0, dy: 0, pixel: input.pixel };
  const next = { name: "wheeling" as const, pixel, at: input.at, dx: dx + input.dx, dy: dy + input.dy };
  const { direction, amount } = scrollAmount(next.dx, next.dy);
  if (amount === 0) return { state: next, outcome: NOTHING };
  const action: Action = { kind: "scroll", point: pixel, direction, amount };
  return { state: next, outcome: { type: "action", action, final: false } };
}

function scrollAmount(dx: number, dy: number): { direction: Direction; amount: number } {
  const sideways = Math.abs(dx) > Math.abs(dy);
  const delta = sideways ? dx : dy;
  const amount = delta === 0 ? 0 : Math.min(MAX_NOTCHES, Math.max(1, Math.round(Math.abs(delta) / NOTCH)));
  if (sideways) return { direction: delta > 0 ? "right" : "left", amount };
  return { direction: delta > 0 ? "down" : "up", amount };
}

function near(one: Point, other: Point, slack: number): boolean {
  return Math.hypot(one.x - other.x, one.y - other.y) <= slack;
}
