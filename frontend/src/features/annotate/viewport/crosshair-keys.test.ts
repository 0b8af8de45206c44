/** The crosshair under the arrow keys. */
import { expect, it } from "vitest";

import { jumpTarget, moveCrosshair, stepLength } from "./crosshair-keys";

const PICTURE = { width: 100, height: 50 };

it("moves one pixel with Shift, and further the longer a key is held", () => {
  expect(stepLength(30, true)).toBe(1);
  expect(stepLength(0, false)).toBeLessThan(stepLength(3, false));
  expect(stepLength(1_000, false)).toBe(64);
});

it("stays in the picture and forgets its speed when the key is let go", () => {
  const fast = moveCrosshair({ pixel: { x: 5, y: 5 }, repeats: 9 }, "ArrowLeft", true, false, PICTURE);
  expect(fast).toEqual({ pixel: { x: 0, y: 5 }, repeats: 10 });
  expect(moveCrosshair({ pixel: { x: 98, y: 5 }, repeats: 9 }, "ArrowRight", false, false, PICTURE)).toEqual({
    pixel: { x: 99, y: 5 },
    repeats: 0,
  });
});

it("leaves other keys alone", () => {
  expect(moveCrosshair({ pixel: { x: 5, y: 5 }, repeats: 0 }, "a", false, false, PICTURE)).toBeNull();
});

it("jumps to the nearest target in a direction, rather straight ahead than aside", () => {
  const targets = [{ x: 60, y: 45 }, { x: 70, y: 25 }, { x: 95, y: 25 }, { x: 10, y: 25 }];
  expect(jumpTarget({ x: 50, y: 25 }, "ArrowRight", targets)).toEqual({ x: 70, y: 25 });
  expect(jumpTarget({ x: 70, y: 25 }, "ArrowRight", targets)).toEqual({ x: 95, y: 25 });
  expect(jumpTarget({ x: 50, y: 25 }, "ArrowDown", targets)).toEqual({ x: 60, y: 45 });
  expect(jumpTarget({ x: 50, y: 25 }, "ArrowUp", targets)).toBeNull();
  expect(jumpTarget({ x: 50, y: 25 }, "a", targets)).toBeNull();
});
