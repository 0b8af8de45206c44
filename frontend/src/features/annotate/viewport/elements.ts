/** Finds elements in a picture (words, buttons, fields, icons) by their edges. */

import type { Point } from "@/generated/vocabulary";
import type { Size } from "@/shared/markers/mapping";
import { CELL, columnsOf, joinedBoxes, readPixels, type ElementBox, type Pixels } from "@/shared/markers/pixels";

/** The smallest difference in brightness (of 255) at an edge. */
const CONTRAST = 24;
/** Smaller boxes (pixels) are specks, such as a caret or a shadow. */
const MIN_SIDE = 6;
/** Taller or wider boxes (pixels) are windows and panels, not elements. */
const TALLEST = 120;
const WIDEST = 480;

/** Every element, in reading order. */
export function detectElements(pixels: Pixels): ElementBox[] {
  const boxes = joinedBoxes(edgeCells(pixels), pixels).filter(isElement);
  return boxes.filter((box, index) => !boxes.some((other, place) => place !== index && contains(other, box) && !(contains(box, other) && index < place)));
}

/** The centres of the elements in a picture; empty without a picture. */
export function elementsOf(source: CanvasImageSource | null, size: Size): Point[] {
  const pixels = source === null ? null : readPixels(source, size);
  return pixels === null ? [] : detectElements(pixels).map(centreOf);
}

function centreOf({ left, top, right, bottom }: ElementBox): Point {
  return { x: Math.round((left + right) / 2), y: Math.round((top + bottom) / 2) };
}

/** One byte a cell: 1 where a pixel of it differs from its right or lower neighbour. */
function edgeCells({ data, width, height }: Pixels): Uint8Array {
  const columns = columnsOf(width);
  const cells = new Uint8Array(columns * columnsOf(height));
  const brightness = new Uint8Array(width * height);
  for (let index = 0; index < brightness.length; index += 1) {
    const at = index * 4;
    brightness[index] = ((data[at] ?? 0) * 77 + (data[at + 1] ?? 0) * 150 + (data[at + 2] ?? 0) * 29) >> 8;
  }
  for (let y = 0; y < height - 1; y += 1) {
    for (let x = 0; x < width - 1; x += 1) {
      const at = y * width + x;
      const here = brightness[at] ?? 0;
      const edge = Math.abs(here - (brightness[at + 1] ?? 0)) > CONTRAST || Math.abs(here - (brightness[at + width] ?? 0)) > CONTRAST;
      if (edge) cells[Math.floor(y / CELL) * columns + Math.floor(x / CELL)] = 1;
    }
  }
  return cells;
}

function isElement({ left, top, right, bottom }: ElementBox): boolean {
  const [width, height] = [right - left + 1, bottom - top + 1];
  return width >= MIN_SIDE && height >= MIN_SIDE && width <= WIDEST && height <= TALLEST;
}

/** Whether one box is inside another: the word on a button belongs to the button. */
function contains(outer: ElementBox, inner: ElementBox): boolean {
  return outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right && outer.bottom >= inner.bottom;
}
