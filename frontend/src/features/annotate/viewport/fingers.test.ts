/** Two fingers mean one thing from beginning to end, and one finger nothing while they do. */
import { describe, expect, it } from "vitest";

import { Fingers, UNZOOMED, zoomBy, type FingerMove } from "./fingers";

function twoFingers(): Fingers {
  const fingers = new Fingers();
  fingers.down(1, { x: 100, y: 100 });
  fingers.down(2, { x: 200, y: 100 });
  return fingers;
}

describe("two fingers", () => {
  it("scroll once they have gone far enough together, by all of their way", () => {
    const fingers = twoFingers();
    const moves: (FingerMove | null)[] = [];
    for (const y of [104, 120, 160]) moves.push(fingers.move(1, { x: 100, y }), fingers.move(2, { x: 200, y }));
    const scrolled = moves.filter((move) => move !== null);
    expect(scrolled.every(({ kind }) => kind === "scroll")).toBe(true);
    expect(scrolled.reduce((sum, { dy }) => sum + dy, 0)).toBe(60);
    expect(fingers.move(1, { x: 40, y: 160 })?.kind, "and go on to scroll where they part later").toBe("scroll");
  });

  it("zoom where they part, and tremble without a meaning", () => {
    const fingers = twoFingers();
    expect(fingers.move(1, { x: 97, y: 102 })).toBeNull();
    expect(fingers.move(2, { x: 300, y: 100 })).toMatchObject({ kind: "zoom", ratio: expect.closeTo(2.03, 1) as number });
  });

  it("are several until the last one is up, and three mean nothing", () => {
    const fingers = twoFingers();
    fingers.down(3, { x: 150, y: 200 });
    expect(fingers.move(3, { x: 150, y: 400 })).toBeNull();
    fingers.up(1);
    fingers.up(2);
    expect(fingers.isSeveral).toBe(true);
    fingers.up(3);
    expect(fingers.isSeveral).toBe(false);
  });
});

describe("the zoom", () => {
  const size = { width: 1000, height: 500 };
  const zoom = (ratio: number, x: number, y: number) => ({ kind: "zoom", ratio, dx: 0, dy: 0, centre: { x, y } }) as const;

  it("leaves what is between the fingers where it is, and shows nothing beside the picture", () => {
    const twice = zoomBy(UNZOOMED, zoom(2, 300, 100), { x: 0, y: 0 }, size);
    expect(twice).toEqual({ scale: 2, x: -300, y: -100 });
    expect(zoomBy(twice, { ...zoom(1, 300, 100), dx: 900, dy: 0 }, { x: -300, y: -100 }, size).x).toBe(0);
  });

  it("ends at the picture's own size, and at four times that", () => {
    expect(zoomBy({ scale: 2, x: -10, y: -10 }, zoom(0.5, 0, 0), { x: -10, y: -10 }, size)).toEqual(UNZOOMED);
    expect(zoomBy(UNZOOMED, zoom(9, 0, 0), { x: 0, y: 0 }, size).scale).toBe(4);
  });
});
