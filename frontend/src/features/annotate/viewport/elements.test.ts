import { expect, it } from "vitest";

import type { ElementBox, Pixels } from "@/shared/markers/pixels";

import { detectElements } from "./elements";

const PICTURE = { width: 640, height: 360 };

type Rectangle = readonly [left: number, top: number, width: number, height: number];

/** A grey picture with filled (or, with a `border`, hollow) rectangles of a colour. */
function paint(shapes: readonly { at: Rectangle; grey: number; border?: number }[]): Pixels {
  const data = new Uint8ClampedArray(PICTURE.width * PICTURE.height * 4).fill(200);
  for (const { at: [left, top, width, height], grey, border = Infinity } of shapes) {
    for (let y = top; y < top + height; y += 1) {
      for (let x = left; x < left + width; x += 1) {
        const inside = Math.min(x - left, left + width - 1 - x, y - top, top + height - 1 - y) >= border;
        if (!inside) data.fill(grey, (y * PICTURE.width + x) * 4, (y * PICTURE.width + x) * 4 + 3);
      }
    }
  }
  return { data, ...PICTURE };
}

/** Words of letters that stand apart by two pixels. */
function word(left: number, top: number, letters: number) {
  return Array.from({ length: letters }, (_, index) => ({ at: [left + index * 8, top, 6, 10] as const, grey: 20 }));
}

function near(box: ElementBox | undefined, [left, top, width, height]: Rectangle): boolean {
  if (box === undefined) return false;
  const off = [box.left - left, box.top - top, box.right - (left + width - 1), box.bottom - (top + height - 1)];
  return off.every((distance) => Math.abs(distance) <= 4);
}

it("finds nothing on an empty picture", () => {
  expect(detectElements(paint([]))).toEqual([]);
});

it("joins the letters of a word, and keeps distant words apart", () => {
  const boxes = detectElements(paint([...word(40, 40, 6), ...word(240, 40, 4)]));
  expect(boxes).toHaveLength(2);
  expect(near(boxes[0], [40, 40, 46, 10])).toBe(true);
  expect(near(boxes[1], [240, 40, 30, 10])).toBe(true);
});

it("finds a button with its word as one element", () => {
  const boxes = detectElements(paint([{ at: [100, 100, 120, 32], grey: 90, border: 1 }, ...word(130, 111, 5)]));
  expect(boxes).toHaveLength(1);
  expect(near(boxes[0], [100, 100, 120, 32])).toBe(true);
});

it("finds the elements of a window but not the window", () => {
  const boxes = detectElements(paint([{ at: [20, 20, 600, 320], grey: 60, border: 2 }, ...word(60, 80, 5), { at: [300, 200, 24, 24], grey: 120 }]));
  expect(boxes).toHaveLength(2);
  expect(near(boxes[0], [60, 80, 38, 10])).toBe(true);
  expect(near(boxes[1], [300, 200, 24, 24])).toBe(true);
});

it("ignores specks and faint shades", () => {
  expect(detectElements(paint([{ at: [102, 102, 1, 1], grey: 20 }, { at: [200, 200, 40, 40], grey: 190 }]))).toEqual([]);
});
