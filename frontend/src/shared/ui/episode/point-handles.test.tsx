/** The points of an action, moved on the picture itself. */
import { fireEvent, render, screen } from "@testing-library/react";
import { expect, it } from "vitest";

import type { Point } from "@/generated/vocabulary";

import { PointHandles } from "./point-handles";

const PICTURE = { width: 1280, height: 720 };
/** Below a bar in its room, as a frame gives it. */
const DISPLAYED = { left: 0, top: 90, width: 640, height: 360 };

it("moves the nearest point to where the picture is pressed, and with the pointer until it is let go", () => {
  const moved: [number, Point][] = [];
  const points = [{ x: 100, y: 100 }, { x: 900, y: 500 }];
  render(<PointHandles points={points} picture={PICTURE} displaySize={DISPLAYED} onMove={(index, to) => moved.push([index, to])} />);
  const picture = screen.getByRole("application", { name: "Move the points of the action on the picture" });
  picture.setPointerCapture = () => undefined;
  fireEvent.pointerMove(picture, { clientX: 10, clientY: 10 });
  fireEvent.pointerDown(picture, { button: 0, clientX: 400, clientY: 240 });
  fireEvent.pointerMove(picture, { clientX: 410, clientY: 250 });
  fireEvent.pointerUp(picture);
  expect(fireEvent.mouseDown(picture), "the focus stays in the form").toBe(false);
  fireEvent.pointerMove(picture, { clientX: 20, clientY: 20 });
  expect(moved).toEqual([[1, { x: 800, y: 480 }], [1, { x: 820, y: 500 }]]);
});

it("offers nothing to move where an action has no points", () => {
  render(<PointHandles points={[]} picture={PICTURE} displaySize={DISPLAYED} onMove={() => undefined} />);
  expect(screen.queryByRole("application")).toBeNull();
});
