/** What goes to the machine during a takeover: everything in order, moves thinned out, nothing left pressed. */
import { describe, expect, it } from "vitest";

import type { InputEvent } from "@/generated/vocabulary";

import { InputQueue, rawKey } from "./takeover";

function machine() {
  const batches: InputEvent[][] = [];
  const frames: (() => void)[] = [];
  const queue = new InputQueue((inputs) => batches.push(inputs), (flush) => frames.push(flush));
  const frame = () => {
    for (const flush of frames.splice(0)) flush();
  };
  return { queue, frame, batches, frames };
}

describe("InputQueue", () => {
  it("sends the last of several moves, once a frame", () => {
    const { queue, frame, batches, frames } = machine();
    for (let x = 0; x < 50; x += 1) queue.move({ x, y: 0 });
    expect(frames).toHaveLength(1);
    frame();
    expect(batches).toEqual([[{ kind: "move_to", x: 49, y: 0 }]]);
  });

  it("keeps the order of moves and presses", () => {
    const { queue, frame, batches } = machine();
    queue.move({ x: 1, y: 1 });
    queue.button(true, "left", { x: 1, y: 1 });
    queue.move({ x: 2, y: 2 });
    queue.move({ x: 3, y: 3 });
    queue.button(false, "left", { x: 3, y: 3 });
    frame();
    expect(batches[0]?.map(({ kind }) => kind)).toEqual(["move_to", "mouse_down", "move_to", "mouse_up"]);
  });

  it("never sends more than the server takes at once", () => {
    const { queue, frame, batches } = machine();
    for (let count = 0; count < 150; count += 1) queue.scroll({ x: 1, y: 1 }, "down", 1);
    frame();
    expect(batches.map(({ length }) => length)).toEqual([64, 64, 22]);
  });

  it("presses a repeating key once", () => {
    const { queue, frame, batches } = machine();
    queue.key(true, "a");
    queue.key(true, "a");
    queue.key(false, "a");
    queue.key(false, "a");
    frame();
    expect(batches[0]).toEqual([{ kind: "press", key: "a" }, { kind: "release", key: "a" }]);
  });

  it("lets go of everything that is held", () => {
    const { queue, batches } = machine();
    queue.key(true, "shift");
    queue.button(true, "right", { x: 1, y: 1 });
    queue.releaseAll();
    expect(batches.flat().slice(-2)).toEqual([
      { kind: "release", key: "shift" },
      { kind: "mouse_up", point: null, button: "right" },
    ]);
    queue.releaseAll();
    expect(batches.flat()).toHaveLength(4);
  });
});

describe("rawKey", () => {
  const press = (code: string, key: string, shiftKey = false) =>
    rawKey({ code, key, shiftKey, ctrlKey: false, altKey: false, metaKey: false });

  it.each([
    ["KeyA", "a", false, "a"],
    ["KeyA", "A", true, "a"],
    ["KeyQ", "a", false, "a"],
    ["Digit1", "!", true, "1"],
    ["Digit1", "1", false, "1"],
    ["ShiftLeft", "Shift", true, "shift"],
    ["ArrowUp", "ArrowUp", false, "up"],
    ["Escape", "Escape", false, "esc"],
    ["Space", " ", false, "space"],
    ["Lang1", "HangulMode", false, null],
  ])("%s that prints %s (shift %s) is %s", (code, key, shift, expected) => {
    expect(press(code, key, shift)).toBe(expected);
  });
});
