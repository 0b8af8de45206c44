/** Between the picture's pixels and the page's: letterboxing and exact conversion; pure, in CSS pixels throughout. */

import type { Point } from "@/generated/vocabulary";

export interface Size {
  readonly width: number;
  readonly height: number;
}

export interface Box extends Size {
  readonly left: number;
  readonly top: number;
}

/** A picture higher than wide, such as a phone's: it leaves room at its sides. */
export function isUpright({ width, height }: Size): boolean {
  return height > width;
}

/** A picture this small (pixels) is enlarged by whole numbers, so that each of its pixels is as large as the next. */
const SMALL = 480;

/** Whether a picture is shown enlarged in whole pixels. */
export function isCrisp(displaySize: Size, picture: Size): boolean {
  return Math.max(picture.width, picture.height) <= SMALL && displaySize.width >= 2 * picture.width;
}

/** The largest box of the picture's shape inside `room`, centred; relative to the room. */
export function letterbox(available: Size, picture: Size): Box {
  if (picture.width <= 0 || picture.height <= 0 || available.width <= 0 || available.height <= 0) {
    return { left: 0, top: 0, width: 0, height: 0 };
  }
  const fitting = Math.min(available.width / picture.width, available.height / picture.height);
  const whole = fitting >= 2 && Math.max(picture.width, picture.height) <= SMALL;
  const scale = whole ? Math.floor(fitting) : fitting;
  const width = picture.width * scale;
  const height = picture.height * scale;
  return { left: (available.width - width) / 2, top: (available.height - height) / 2, width, height };
}

/** The pixel of the picture under a place of the page, null outside of it. */
export function pixelAt(place: Point, box: Box, picture: Size): Point | null {
  const x = Math.floor(((place.x - box.left) * picture.width) / box.width);
  const y = Math.floor(((place.y - box.top) * picture.height) / box.height);
  return x >= 0 && y >= 0 && x < picture.width && y < picture.height ? { x, y } : null;
}

/** The nearest pixel of the picture to a place of the page: where a drag that left the picture ends. */
export function nearestPixel(place: Point, box: Box, picture: Size): Point {
  const clamp = (value: number, size: number) => Math.min(Math.max(Math.floor(value), 0), size - 1);
  return {
    x: clamp(((place.x - box.left) * picture.width) / box.width, picture.width),
    y: clamp(((place.y - box.top) * picture.height) / box.height, picture.height),
  };
}

/** The middle of a pixel, in CSS pixels from the picture's corner. */
export function toDisplay(pixel: Point, displaySize: Size, picture: Size): Point {
  return {
    x: ((pixel.x + 0.5) * displaySize.width) / picture.width,
    y: ((pixel.y + 0.5) * displaySize.height) / picture.height,
  };
}
