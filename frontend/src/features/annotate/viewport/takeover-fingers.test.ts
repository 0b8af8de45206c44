/** Fingers on a machine that has a mouse: each means one thing, and no button stays down. */
import { describe, expect, it } from "vitest";

import { TakeoverFingers, type FingerInput, type Touch } from "./takeover-fingers";

/** The picture is shown at half its size. */
const touch = (x: number, y: number, at = 0, id = 1): Touch => ({ id, place: { x, y }, pixel: { x: 2 * x, y: 2 * y }, at });

function tap(fingers: TakeoverFingers, x: number, y: number, at = 0): readonly FingerInput[] {
  return [...fingers.down(touch(x, y, at)), ...fingers.up(touch(x, y, at + 80))];
}

const clicked = (button: "left" | "right", x: number, y: number) =>
  [true, false].map((down) => ({ kind: "button", down, button, pixel: { x, y } }));

describe("one finger", () => {
  it("taps where it began, though it rolls", () => {
    const fingers = new TakeoverFingers();
    expect(fingers.down(touch(100, 50))).toEqual([]);
    expect(fingers.move(touch(106, 54, 40))).toEqual([]);
    expect(fingers.up(touch(106, 54, 80))).toEqual(clicked("left", 200, 100));
  });

  it("taps the same pixel twice where the second tap is close and soon", () => {
    const fingers = new TakeoverFingers();
    tap(fingers, 100, 50);
    expect(tap(fingers, 108, 54, 200)).toEqual(clicked("left", 200, 100));
    expect(tap(fingers, 108, 54, 900), "and another one later").toEqual(clicked("left", 216, 108));
  });

  it("presses the right button where it lies still, and nothing as it leaves", () => {
    const fingers = new TakeoverFingers();
    fingers.down(touch(100, 50));
    expect(fingers.isPressing).toBe(true);
    expect(fingers.held()).toEqual(clicked("right", 200, 100));
    expect(fingers.isPressing).toBe(false);
    expect([...fingers.move(touch(160, 50)), ...fingers.up(touch(160, 50))]).toEqual([]);
  });

  it("drags from where it began, at once, and no long press comes of it", () => {
    const fingers = new TakeoverFingers();
    fingers.down(touch(100, 50));
    expect(fingers.move(touch(150, 50))).toEqual([
      { kind: "button", down: true, button: "left", pixel: { x: 200, y: 100 } },
      { kind: "move", pixel: { x: 300, y: 100 } },
    ]);
    expect(fingers.held()).toEqual([]);
    expect(fingers.up(touch(160, 60))).toEqual([{ kind: "button", down: false, button: "left", pixel: { x: 320, y: 120 } }]);
  });

  it("lets go of what it dragged where the browser takes it away", () => {
    const fingers = new TakeoverFingers();
    fingers.down(touch(100, 50));
    fingers.move(touch(150, 50));
    expect(fingers.cancel(touch(150, 50))).toEqual([{ kind: "button", down: false, button: "left", pixel: { x: 300, y: 100 } }]);
    expect(fingers.up(touch(150, 50))).toEqual([]);
  });
});

describe("two fingers", () => {
  it("scroll, and click nothing: neither with a tap nor as they leave", () => {
    const fingers = new TakeoverFingers();
    const done = [
      ...fingers.down(touch(100, 100)),
      ...fingers.down(touch(200, 100, 10, 2)),
      ...fingers.up(touch(100, 100, 60)),
      ...fingers.up(touch(200, 100, 70, 2)),
    ];
    expect(done, "a tap of two").toEqual([]);
    const moved = [fingers.down(touch(100, 100, 900)), fingers.down(touch(200, 100, 900, 2))].flat();
    for (const y of [120, 160, 200]) moved.push(...fingers.move(touch(100, y, 950)), ...fingers.move(touch(200, y, 950, 2)));
    moved.push(...fingers.up(touch(100, 200, 990)), ...fingers.up(touch(200, 200, 990, 2)));
    expect(moved.every(({ kind }) => kind === "scroll")).toBe(true);
    expect(moved.reduce((sum, input) => sum + (input.kind === "scroll" ? input.dy : 0), 0)).toBe(-100);
  });

  it("end a drag that one of them began, and zoom where they part", () => {
    const fingers = new TakeoverFingers();
    fingers.down(touch(100, 100));
    fingers.move(touch(140, 100));
    expect(fingers.down(touch(300, 100, 0, 2))).toMatchObject([{ kind: "button", down: false, button: "left" }]);
    expect(fingers.move(touch(500, 100, 0, 2))).toMatchObject([{ kind: "zoom" }]);
  });
});
