/** Finds elements in a picture (words, buttons, fields, icons) by their edges. */

import type { Point } from "@/generated/vocabulary";
import type { Size } from "@/shared/markers/mapping";

/** Pixels as a canvas gives them: four bytes each, row by row. */
export interface Pixels {
  readonly data: Uint8ClampedArray;
  readonly width: number;
  readonly height: number;
}

/** In pixels; `right` and `bottom` are the last ones inside. */
export interface ElementBox {
  readonly left: number;
  readonly top: number;
  readonly right: number;
  readonly bottom: number;
}

/** Pixels on a side of a cell: edges are joined cell by cell. */
const CELL = 4;
/** The largest gap (cells) that is filled between edges of a row: letters become words, words of a line one element. */
const JOINED = 2;
/** The smallest difference in brightness (of 255) at an edge. */
const CONTRAST = 24;
/** Smaller boxes (pixels) are specks, such as a caret or a shadow. */
const MIN_SIDE = 6;
/** Taller or wider boxes (pixels) are windows and panels, not elements. */
const TALLEST = 120;
const WIDEST = 480;

/** Every element, in reading order. */
export function detectElements(pixels: Pixels): ElementBox[] {
  const columns = Math.ceil(pixels.width / CELL);
  const rows = Math.ceil(pixels.height / CELL);
  const boxes = components(joinSideways(edgeCells(pixels, columns, rows), columns), columns, rows)
    .map((box) => toPixels(box, pixels))
    .filter(isElement);
  return boxes.filter((box, index) => !boxes.some((other, place) => place !== index && contains(other, box) && !(contains(box, other) && index < place)));
}

/** The centres of the elements in a picture; empty without a picture. */
export function elementsOf(source: CanvasImageSource | null, { width, height }: Size): Point[] {
  if (source === null || width === 0 || height === 0) return [];
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) return [];
  context.drawImage(source, 0, 0, width, height);
  return detectElements(context.getImageData(0, 0, width, height)).map(centreOf);
}

function centreOf({ left, top, right, bottom }: ElementBox): Point {
  return { x: Math.round((left + right) / 2), y: Math.round((top + bottom) / 2) };
}

/** One byte a cell: 1 where a pixel of it differs from its right or lower neighbour. */
function edgeCells({ data, width, height }: Pixels, columns: number, rows: number): Uint8Array {
  const cells = new Uint8Array(columns * rows);
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

/** Fills the gaps of each row that are at most `JOINED` cells wide. */
function joinSideways(cells: Uint8Array, columns: number): Uint8Array {
  const joined = cells.slice();
  let last = -Infinity;
  for (let at = 0; at < cells.length; at += 1) {
    if (at % columns === 0) last = -Infinity;
    if (cells[at] !== 1) continue;
    if (at - last <= JOINED + 1) joined.fill(1, last + 1, at);
    last = at;
  }
  return joined;
}

/** Bounding boxes (in cells) of 8-connected components, in the order of their topmost rows. */
function components(cells: Uint8Array, columns: number, rows: number): ElementBox[] {
  const boxes: ElementBox[] = [];
  const seen = new Uint8Array(cells.length);
  const waiting: number[] = [];
  for (let start = 0; start < cells.length; start += 1) {
    if (cells[start] !== 1 || seen[start] === 1) continue;
    let [left, top, right, bottom] = [columns, rows, 0, 0];
    seen[start] = 1;
    waiting.push(start);
    for (let at = waiting.pop(); at !== undefined; at = waiting.pop()) {
      const [x, y] = [at % columns, Math.floor(at / columns)];
      [left, top, right, bottom] = [Math.min(left, x), Math.min(top, y), Math.max(right, x), Math.max(bottom, y)];
      for (let ny = Math.max(y - 1, 0); ny <= Math.min(y + 1, rows - 1); ny += 1) {
        for (let nx = Math.max(x - 1, 0); nx <= Math.min(x + 1, columns - 1); nx += 1) {
          const next = ny * columns + nx;
          if (cells[next] !== 1 || seen[next] === 1) continue;
          seen[next] = 1;
          waiting.push(next);
        }
      }
    }
    boxes.push({ left, top, right, bottom });
  }
  return boxes;
}

function toPixels({ left, top, right, bottom }: ElementBox, { width, height }: Pixels): ElementBox {
  return {
    left: left * CELL,
    top: top * CELL,
    right: Math.min((right + 1) * CELL, width) - 1,
    bottom: Math.min((bottom + 1) * CELL, height) - 1,
  };
}

function isElement({ left, top, right, bottom }: ElementBox): boolean {
  const [width, height] = [right - left + 1, bottom - top + 1];
  return width >= MIN_SIDE && height >= MIN_SIDE && width <= WIDEST && height <= TALLEST;
}

/** Whether one box is inside another: the word on a button belongs to the button. */
function contains(outer: ElementBox, inner: ElementBox): boolean {
  return outer.left <= inner.left && outer.top <= inner.top && outer.right >= inner.right && outer.bottom >= inner.bottom;
}
