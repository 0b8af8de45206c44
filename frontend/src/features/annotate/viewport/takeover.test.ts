/** What goes to the machine during a takeover: everything in order, moves thinned out, nothing left pressed. */
import { describe, expect, it } from "vitest";

import type { InputEvent } from "@/generated/vocabulary";

import { InputQueue } from "./takeover";

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

  it("joins texts that follow each other, and keeps their place among keys", () => {
    const { queue, frame, batches } = machine();
    queue.add([{ kind: "type_text", text: "ä" }]);
    queue.add([{ kind: "type_text", text: "ö" }, { kind: "press", key: "a" }]);
    queue.add([{ kind: "type_text", text: "ü" }]);
    frame();
    expect(batches).toEqual([[{ kind: "type_text", text: "äö" }, { kind: "press", key: "a" }, { kind: "type_text", text: "ü" }]]);
  });

  it("says once how every button is let go", () => {
    const { queue } = machine();
    queue.button(true, "right", { x: 1, y: 1 });
    expect(queue.holds).toBe(true);
    expect(queue.takeReleases()).toEqual([{ kind: "mouse_up", point: null, button: "right" }]);
    expect(queue.takeReleases()).toEqual([]);
    expect(queue.holds).toBe(false);
  });

  it("does nothing later that was done while nobody listened, and lets go of what was held", () => {
    const { queue, frame, batches } = machine();
    queue.button(true, "left", { x: 1, y: 1 });
    frame();
    queue.move({ x: 2, y: 2 });
    queue.disconnect([{ kind: "release", key: "shift" }]);
    queue.add([{ kind: "press", key: "a" }]);
    queue.button(true, "right", { x: 3, y: 3 });
    queue.button(false, "right", { x: 3, y: 3 });
    frame();
    expect(batches).toHaveLength(1);
    queue.reconnect();
    expect(batches[1]).toEqual([{ kind: "mouse_up", point: null, button: "left" }, { kind: "release", key: "shift" }]);
  });
});
