/** Pixels of a picture, and boxes of what is marked in it cell by cell. */
import type { Size } from "./mapping";

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
export const CELL = 4;
/** The largest gap (cells) that is filled between edges of a row: letters become words, words of a line one element. */
const JOINED = 2;
/** How many cells a side of so many pixels has. */
export const columnsOf = (side: number): number => Math.ceil(side / CELL);

/** The pixels of a picture drawn at a size; null where it has no size. */
export function readPixels(source: CanvasImageSource, { width, height }: Size): Pixels | null {
  if (width === 0 || height === 0) return null;
  const canvas = document.createElement("canvas");
  Object.assign(canvas, { width, height });
  const context = canvas.getContext("2d", { willReadFrequently: true });
  if (context === null) return null;
  context.drawImage(source, 0, 0, width, height);
  return context.getImageData(0, 0, width, height);
}

/** The boxes (in pixels) of marked cells that touch, gaps of a row filled, in the order of their topmost rows. */
export function joinedBoxes(cells: Uint8Array, size: Size): ElementBox[] {
  const [columns, rows] = [columnsOf(size.width), columnsOf(size.height)];
  return components(joinSideways(cells, columns), columns, rows).map((box) => toPixels(box, size));
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

function toPixels({ left, top, right, bottom }: ElementBox, { width, height }: Size): ElementBox {
  return {
    left: left * CELL,
    top: top * CELL,
    right: Math.min((right + 1) * CELL, width) - 1,
    bottom: Math.min((bottom + 1) * CELL, height) - 1,
  };
}
