/** Every pixel of the picture can be hit, whatever the window's size and zoom. */
import { describe, expect, it } from "vitest";

import { isCrisp, isUpright, letterbox, nearestPixel, pixelAt, toDisplay, type Box } from "./mapping";

const DESKTOP = { width: 1280, height: 720 };
const PHONE = { width: 1080, height: 2400 };

it("knows a phone that stands from one that lies", () => {
  expect([PHONE, { width: 2400, height: 1080 }, { width: 0, height: 0 }].map(isUpright)).toEqual([true, false, false]);
});

describe("letterbox", () => {
  it("fills the width of a narrow room and centres the picture", () => {
    expect(letterbox({ width: 640, height: 600 }, DESKTOP)).toEqual({ left: 0, top: 120, width: 640, height: 360 });
  });
  it("stands a phone upright in a wide room", () => {
    expect(letterbox({ width: 900, height: 600 }, PHONE)).toEqual({ left: 315, top: 0, width: 270, height: 600 });
  });
  it("shows nothing where there is no room or no picture", () => {
    expect(letterbox({ width: 0, height: 600 }, DESKTOP).width).toBe(0);
    expect(letterbox({ width: 10, height: 10 }, { width: 0, height: 0 }).width).toBe(0);
  });
});

describe("pixels and places", () => {
  const boxes: Box[] = [0.5, 0.667, 1, 1.1, 1.25, 1.75, 2].map((scale) => ({
    left: 13.4,
    top: 57.8,
    width: DESKTOP.width * scale,
    height: DESKTOP.height * scale,
  }));

  it.each(boxes)("the middle of each pixel lies in that pixel at width $width", (box) => {
    for (let x = 0; x < DESKTOP.width; x += 7) {
      const pixel = { x, y: x % DESKTOP.height };
      const place = toDisplay(pixel, box, DESKTOP);
      expect(pixelAt({ x: place.x + box.left, y: place.y + box.top }, box, DESKTOP)).toEqual(pixel);
    }
  });

  it("reaches the first and the last pixel, and nothing beyond", () => {
    const box = { left: 10, top: 20, width: 640, height: 360 };
    expect(pixelAt({ x: 10, y: 20 }, box, DESKTOP)).toEqual({ x: 0, y: 0 });
    expect(pixelAt({ x: 649.9, y: 379.9 }, box, DESKTOP)).toEqual({ x: 1279, y: 719 });
    expect(pixelAt({ x: 650, y: 380 }, box, DESKTOP)).toBeNull();
    expect(pixelAt({ x: 9.9, y: 100 }, box, DESKTOP)).toBeNull();
  });

  it("ends at the border what leaves the picture", () => {
    const box = { left: 0, top: 0, width: 640, height: 360 };
    expect(nearestPixel({ x: 9_999, y: -5 }, box, DESKTOP)).toEqual({ x: 1279, y: 0 });
  });
});

describe("a small picture", () => {
  const small = { width: 320, height: 240 };
  it("is enlarged by whole numbers, in the middle of its room", () => {
    const box = letterbox({ width: 916, height: 630 }, small);
    expect(box).toEqual({ left: 138, top: 75, width: 640, height: 480 });
    expect(isCrisp(box, small)).toBe(true);
    expect(pixelAt({ x: 138 + 639, y: 75 + 479 }, box, small)).toEqual({ x: 319, y: 239 });
  });

  it("is fitted as any other where it is hardly enlarged", () => {
    const box = letterbox({ width: 400, height: 300 }, small);
    expect(box.width).toBe(400);
    expect(isCrisp(box, small)).toBe(false);
  });
});
