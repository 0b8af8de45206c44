import { expect, test } from "vitest";

import { movePoint } from "./move-point";
import { parseAction } from "./parse";
import { printAction } from "./print";

const TO = { x: 7, y: 9 };

function moved(line: string, index: number): string {
  const read = parseAction(line);
  if (!read.ok) throw new Error(line);
  return printAction(movePoint(read.action, index, TO));
}

test.each([
  ["click(1, 2)", 0, "click(7, 9)"],
  ["drag(1, 2, 3, 4)", 0, "drag(7, 9, 3, 4)"],
  ["drag(1, 2, 3, 4)", 1, "drag(1, 2, 7, 9)"],
  ['drag_path("10 20; 30 40; 50 20")', 1, 'drag_path("10 20; 7 9; 50 20")'],
])("%s with point %i moved is %s", (line, index, written) => expect(moved(line, index)).toBe(written));

test("an action without that point stays as it is", () => {
  expect(moved('type_text("a")', 0)).toBe('type_text("a")');
  expect(moved("click(1, 2)", 1)).toBe("click(1, 2)");
});
