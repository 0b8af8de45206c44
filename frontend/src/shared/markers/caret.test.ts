import { expect, it } from "vitest";

import type { Action } from "@/generated/vocabulary";

import { findCaret } from "./caret";
import type { Pixels } from "./pixels";

const PICTURE = { width: 640, height: 360 };

type Rectangle = readonly [left: number, top: number, width: number, height: number];

/** A grey picture with dark rectangles. */
function paint(rectangles: readonly Rectangle[]): Pixels {
  const data = new Uint8ClampedArray(PICTURE.width * PICTURE.height * 4).fill(200);
  for (const [left, top, width, height] of rectangles) {
    for (let y = top; y < top + height; y += 1) {
      data.fill(20, (y * PICTURE.width + left) * 4, (y * PICTURE.width + left + width) * 4);
    }
  }
  return { data, ...PICTURE };
}

/** A word of letters that stand apart by two pixels. */
const word = (left: number, top: number, letters: number): Rectangle[] =>
  Array.from({ length: letters }, (_, index): Rectangle => [left + index * 8, top, 6, 12]);

const LABEL = word(20, 100, 6);
const CLICKED = { x: 90, y: 106 };
const TYPED: Action = { kind: "type_text", text: "abc" };
const ENTER: Action = { kind: "press_keys", keys: ["enter"] };

it("stands behind the text that was typed", () => {
  const caret = findCaret(TYPED, paint(LABEL), paint([...LABEL, ...word(88, 100, 10)]), CLICKED);
  expect(caret?.x).toBeGreaterThanOrEqual(166);
  expect(caret?.x).toBeLessThanOrEqual(172);
  expect(caret?.y).toBeGreaterThanOrEqual(100);
  expect(caret?.y).toBeLessThanOrEqual(112);
});

it("stands at the end of the last of several lines", () => {
  const caret = findCaret(TYPED, paint([]), paint([...word(88, 100, 30), ...word(88, 116, 4)]), CLICKED);
  expect(caret?.x).toBeLessThanOrEqual(126);
  expect(caret?.y).toBeGreaterThanOrEqual(114);
});

it("follows what changed near, not a title elsewhere", () => {
  const caret = findCaret(TYPED, paint([]), paint([...word(560, 4, 5), ...word(88, 100, 3)]), CLICKED);
  expect(caret?.x).toBeLessThanOrEqual(116);
});

it("is found far from where was clicked, as in an empty editor, but not by a key", () => {
  const [before, after] = [paint([]), paint(word(8, 300, 5))];
  expect(findCaret(TYPED, before, after, CLICKED)?.y).toBeGreaterThanOrEqual(300);
  expect(findCaret(ENTER, before, after, CLICKED)).toBeNull();
});

it("is not at a change that is narrower than what was typed", () => {
  const long: Action = { kind: "type_text", text: "a longer line of text" };
  expect(findCaret(long, paint([]), paint(word(88, 100, 2)), CLICKED)).toBeNull();
});

it("stands in the window that a key opened, wherever that is", () => {
  const key: Action = { kind: "press_keys", keys: ["f2"] };
  expect(findCaret(key, paint([]), paint([[300, 150, 240, 130]]), CLICKED)).toEqual({ x: 420, y: 214 });
});

it("is unknown where nothing changed, a window opened, or the screen's size did", () => {
  expect(findCaret(TYPED, paint(LABEL), paint(LABEL), CLICKED)).toBeNull();
  expect(findCaret(TYPED, paint([]), paint([[80, 90, 200, 180]]), CLICKED)).toBeNull();
  expect(findCaret(TYPED, paint([]), paint([[0, 0, 640, 300]]), CLICKED)).toBeNull();
  const small: Pixels = { data: new Uint8ClampedArray(16 * 16 * 4), width: 16, height: 16 };
  expect(findCaret(TYPED, small, paint(LABEL), CLICKED)).toBeNull();
});
