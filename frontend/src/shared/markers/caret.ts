/** Where the text cursor stands after an act, found in the pictures before and after it; pure. */
import type { Action, Point } from "@/generated/vocabulary";

import { CELL, columnsOf, joinedBoxes, type ElementBox, type Pixels } from "./pixels";

/** The smallest change of a colour (of 255) that counts; pictures are JPEG. */
const CHANGED = 40;
/** A change of more than this share of the picture is another view, not text. */
const MAX_SHARE = 0.3;
/** Flatter changes (pixels) are specks or underlines, taller ones windows and menus. */
const MIN_HEIGHT = 8;
const MAX_HEIGHT = 120;
/** The height of a line of text, and the largest gap between two (pixels). */
const LINE = 16;
/** The width (pixels) that a typed character has at the least, and the most that text is expected to be: lines break. */
const MIN_CHARACTER = 3;
const MAX_LEAST_WIDTH = 120;
/** The farthest (pixels) from the last known place that a key changes text: what changes elsewhere is a title or a menu. */
const FARTHEST = 120;

/** Acts after which the text cursor is looked for in the pictures. */
export const movesCaret = ({ kind }: Action): boolean => kind === "type_text" || kind === "press_keys" || kind === "press";

/**
 * The text cursor after an act that changed text: at the right end of the last line that changed, nearest to `near`; in
 * the middle of the window that a key opened. Null where neither changed, or all of the picture did.
 */
export function findCaret(action: Action, before: Pixels, after: Pixels, near: Point): Point | null {
  if (before.width !== after.width || before.height !== after.height) return null;
  const cells = changedCells(before, after);
  const changed = cells.reduce((sum, cell) => sum + cell, 0);
  if (changed === 0 || changed > cells.length * MAX_SHARE) return null;
  const typed = action.kind === "type_text" ? action.text.length : 0;
  const changes = joinedBoxes(cells, after);
  const opened = changes.find(({ top, bottom }) => bottom - top + 1 > MAX_HEIGHT);
  if (typed === 0 && opened !== undefined) return middleOf(opened);
  const boxes = changes.filter(isLineOfText);
  const candidates = boxes
    .filter(({ left, right }) => right - left + 1 >= Math.min(typed * MIN_CHARACTER, MAX_LEAST_WIDTH))
    .map((box) => ({ box, distance: distanceTo(box, near) }))
    .filter(({ distance }) => typed > 0 || distance <= FARTHEST)
    .toSorted((one, other) => one.distance - other.distance);
  const nearest = candidates[0];
  return nearest === undefined ? null : endOf(lastLine(nearest.box, boxes), cells, after);
}

/** One byte a cell: 1 where a pixel of it has another colour. */
function changedCells({ data: before, width, height }: Pixels, { data: after }: Pixels): Uint8Array {
  const columns = columnsOf(width);
  const cells = new Uint8Array(columns * columnsOf(height));
  for (let y = 0; y < height; y += 1) {
    for (let x = 0; x < width; x += 1) {
      const at = (y * width + x) * 4;
      const most = Math.max(
        Math.abs((before[at] ?? 0) - (after[at] ?? 0)),
        Math.abs((before[at + 1] ?? 0) - (after[at + 1] ?? 0)),
        Math.abs((before[at + 2] ?? 0) - (after[at + 2] ?? 0)),
      );
      if (most > CHANGED) cells[Math.floor(y / CELL) * columns + Math.floor(x / CELL)] = 1;
    }
  }
  return cells;
}

function isLineOfText({ top, bottom }: ElementBox): boolean {
  const height = bottom - top + 1;
  return height >= MIN_HEIGHT && height <= MAX_HEIGHT;
}

function middleOf({ left, top, right, bottom }: ElementBox): Point {
  return { x: Math.round((left + right) / 2), y: Math.round((top + bottom) / 2) };
}

function distanceTo({ left, top, right, bottom }: ElementBox, { x, y }: Point): number {
  return Math.hypot(Math.max(left - x, 0, x - right), Math.max(top - y, 0, y - bottom));
}

/** The last of the lines that follow a box closely, from top to bottom. */
function lastLine(box: ElementBox, boxes: readonly ElementBox[]): ElementBox {
  const next = boxes.find(({ left, top, right }) => top > box.bottom && top - box.bottom <= LINE && left <= box.right && right >= box.left);
  return next === undefined ? box : lastLine(next, boxes);
}

/** Behind the last cell that changed in the last line of a box. */
function endOf(box: ElementBox, cells: Uint8Array, { width, height }: Pixels): Point {
  const columns = columnsOf(width);
  const line = Math.max(box.top, box.bottom - LINE + 1);
  let end = box.left;
  for (let row = Math.floor(line / CELL); row <= Math.floor(box.bottom / CELL); row += 1) {
    for (let column = Math.floor(box.left / CELL); column <= Math.floor(box.right / CELL); column += 1) {
      if (cells[row * columns + column] === 1) end = Math.max(end, (column + 1) * CELL);
    }
  }
  return { x: Math.min(end, width - 1), y: Math.min(Math.round((line + box.bottom) / 2), height - 1) };
}
