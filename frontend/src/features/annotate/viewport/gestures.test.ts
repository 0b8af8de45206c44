/** What a hand does on the picture, and the action it means. */
import { describe, expect, it } from "vitest";

import type { Action, Button } from "@/generated/vocabulary";

import { reduceGesture, HOLD_MS, IDLE, COALESCE_MS, type Input, type Outcome, type State } from "./gestures";

const at = (x: number, y: number, time = 0) => ({ place: { x: x / 2, y: y / 2 }, pixel: { x, y }, at: time });
const down = (x: number, y: number, time = 0, button: Button = "left"): Input => ({ type: "down", button, ...at(x, y, time) });
const move = (x: number, y: number, time = 0): Input => ({ type: "move", ...at(x, y, time) });
const up = (x: number, y: number, time = 0): Input => ({ type: "up", ...at(x, y, time) });
const wheel = (dx: number, dy: number, time = 0): Input => ({ type: "wheel", dx, dy, ...at(50, 60, time) });

function play(inputs: readonly Input[], touch = false): { state: State; outcomes: Outcome[]; actions: Action[] } {
  let state = IDLE;
  const outcomes: Outcome[] = [];
  for (const input of inputs) {
    const result = reduceGesture(state, input, touch ? "phone" : "mouse");
    state = result.state;
    outcomes.push(result.outcome);
  }
  const actions = outcomes.flatMap((outcome) => (outcome.type === "action" ? [outcome.action] : []));
  return { state, outcomes, actions };
}

describe("clicks", () => {
  it("a press and release is a click where it was pressed", () => {
    expect(play([down(100, 100), move(104, 104), up(104, 104)]).actions).toEqual([{ kind: "click", x: 100, y: 100 }]);
  });
  it("grows to a double and a triple click at the first click's pixel", () => {
    const { actions, outcomes } = play([
      down(100, 100, 0), up(100, 100, 50),
      down(102, 100, 150), up(102, 100, 200),
      down(102, 100, 300), up(102, 100, 350),
    ]);
    expect(actions.map(({ kind }) => kind)).toEqual(["click", "double_click", "triple_click"]);
    expect(actions.at(-1)).toEqual({ kind: "triple_click", x: 100, y: 100 });
    expect(outcomes.flatMap((one) => (one.type === "action" ? [one.final] : []))).toEqual([false, false, true]);
  });
  it("two slow clicks, or two far apart, are two clicks", () => {
    const slow = play([down(9, 9, 0), up(9, 9, 1), down(9, 9, COALESCE_MS), up(9, 9, COALESCE_MS + 1)]);
    const far = play([down(9, 9, 0), up(9, 9, 1), down(99, 99, 10), up(99, 99, 11)]);
    for (const { actions } of [slow, far]) expect(actions.map(({ kind }) => kind)).toEqual(["click", "click"]);
  });
  it.each([["right", "right_click"], ["middle", "middle_click"]] as const)("the %s button is a %s", (button, kind) => {
    expect(play([down(5, 6, 0, button), up(5, 6)]).actions).toEqual([{ kind, x: 5, y: 6 }]);
  });
});

describe("drags", () => {
  it("begins once the pointer has left the slack, and keeps its button", () => {
    expect(play([down(10, 10, 0, "middle"), move(90, 90), up(95, 95)]).actions).toEqual([
      { kind: "drag", start: { x: 10, y: 10 }, end: { x: 95, y: 95 }, button: "middle" },
    ]);
  });
  it("another button asks a touch screen for everything that can be done there", () => {
    expect(play([down(5, 6, 0, "right"), up(5, 6)], true).outcomes[1]).toEqual({ type: "menu", pixel: { x: 5, y: 6 } });
  });
  it("is a swipe on a touch screen", () => {
    expect(play([down(10, 10), move(90, 90), up(95, 95)], true).actions).toEqual([
      { kind: "swipe", start: { x: 10, y: 10 }, end: { x: 95, y: 95 } },
    ]);
  });
  it("a cancelled drag means nothing", () => {
    expect(play([down(10, 10), move(90, 90), { type: "cancel" }, up(95, 95)]).actions).toEqual([]);
  });
});

describe("holding", () => {
  it("asks what to do there, and its release does nothing", () => {
    const { outcomes, actions, state } = play([down(10, 20), { type: "held" }, up(10, 20)]);
    expect(outcomes[1]).toEqual({ type: "menu", pixel: { x: 10, y: 20 } });
    expect(actions).toEqual([]);
    expect(state).toEqual(IDLE);
  });
  it("counts also where the page was too busy to notice it in time", () => {
    expect(play([down(10, 20, 0), up(10, 20, HOLD_MS)]).outcomes[1]).toEqual({ type: "menu", pixel: { x: 10, y: 20 } });
  });
  it("is a long press on a touch screen", () => {
    expect(play([down(10, 20), { type: "held" }], true).actions).toEqual([{ kind: "long_press", x: 10, y: 20, seconds: 1 }]);
  });
  it("cannot begin during a drag", () => {
    expect(play([down(10, 10), move(90, 90), { type: "held" }]).state.name).toBe("dragging");
  });
});

describe("the wheel", () => {
  it("counts notches that follow each other at the first one's pixel", () => {
    expect(play([wheel(0, 100, 0), wheel(0, 100, 50), wheel(0, 100, 90)]).actions.at(-1)).toEqual({
      kind: "scroll", point: { x: 50, y: 60 }, direction: "down", amount: 3,
    });
  });
  it("begins anew after a rest", () => {
    expect(play([wheel(0, -100, 0), wheel(0, -100, COALESCE_MS)]).actions.at(-1)).toMatchObject({ direction: "up", amount: 1 });
  });
  it("goes sideways, takes back what was too far, and is never more than a hundred notches", () => {
    expect(play([wheel(250, 10)]).actions.at(-1)).toMatchObject({ direction: "right", amount: 3 });
    expect(play([wheel(0, 500, 0), wheel(0, -300, 10)]).actions.at(-1)).toMatchObject({ direction: "down", amount: 2 });
    expect(play([wheel(0, 99_999)]).actions.at(-1)).toMatchObject({ amount: 100 });
  });
});
