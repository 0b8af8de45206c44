/** What an action looks like, and where. */
import { describe, expect, it } from "vitest";

import { BADGE_STEP, lastPointed, markerOf, spread } from "./marker";

describe("markerOf", () => {
  it("draws what happens on the picture, and nothing for what does not", () => {
    expect(markerOf({ kind: "right_click", x: 5, y: 6 })).toEqual({ shape: "ring", at: { x: 5, y: 6 }, glyph: "right" });
    expect(markerOf({ kind: "swipe", start: { x: 1, y: 2 }, end: { x: 3, y: 4 } })).toMatchObject({ shape: "arrow" });
    expect(markerOf({ kind: "scroll", point: null, direction: "up", amount: 2 })).toMatchObject({ shape: "chevron", at: null });
    expect(markerOf({ kind: "press_keys", keys: ["ctrl", "s"] })).toMatchObject({ shape: "caret", text: "ctrl+s" });
    expect(markerOf({ kind: "wait", seconds: 5 })).toBeNull();
  });

  it("draws the way of a gesture through its points", () => {
    const inputs = [
      { at_ms: 0, input: { kind: "mouse_down", point: { x: 1, y: 1 }, button: "left" } },
      { at_ms: 5, input: { kind: "press", key: "a" } },
      { at_ms: 9, input: { kind: "move_to", x: 7, y: 8 } },
    ] as const;
    expect(markerOf({ kind: "gesture", inputs: [...inputs] })).toEqual({ shape: "path", points: [{ x: 1, y: 1 }, { x: 7, y: 8 }] });
  });
});

it("text lands where the last act pointed", () => {
  expect(lastPointed([{ kind: "click", x: 1, y: 2 }, { kind: "type_text", text: "a" }])).toEqual({ x: 1, y: 2 });
  expect(lastPointed([{ kind: "type_text", text: "a" }])).toBeNull();
});

it("numbers at one place stand beside each other", () => {
  const at = { x: 10, y: 10 };
  expect(spread([at, { x: 200, y: 10 }, at, at]).map(({ x }) => x)).toEqual([0, 0, BADGE_STEP, 2 * BADGE_STEP]);
});
