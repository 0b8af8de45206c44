import { expect, it } from "vitest";

import { countTaken, isRange, rangesAfterEdit, rangesOfCount, type TextRange } from "./text-ranges";

const TEXT = "I open the menu and wait";
const MENU: TextRange = [10, 15];
const taken = (after: string, ranges: readonly TextRange[] = [MENU], before = TEXT) =>
  rangesAfterEdit(ranges, before, after).map(([from, to]) => after.slice(from, to));

it.each([
  ["typing behind it", "I open the menu and wait.", [" menu"]],
  ["typing before it", "Now I open the menu and wait", [" menu"]],
  ["typing inside it", "I open the meXnu and wait", [" me", "nu"]],
  ["deleting its end", "I open the me and wait", [" me"]],
  ["deleting across its beginning", "I open menu and wait", ["menu"]],
  ["replacing all", "Something else", []],
  ["deleting all", "", []],
])("%s keeps what is still there", (_, after, left) => {
  expect(taken(after)).toEqual(left);
});

it("counts what is taken of a text without the space around it", () => {
  expect(countTaken([[0, 3], [5, 9]], "  ab cde ")).toBe(4);
  expect(countTaken([], "abc")).toBe(0);
});

it("counts code points, as the server does", () => {
  expect(countTaken([[1, 6]], "a😀😀b")).toBe(3);
  expect(countTaken(rangesOfCount("😀😀b", 2), "😀😀b")).toBe(2);
  expect(rangesOfCount("ab", 0)).toEqual([]);
});

it("knows a range from what else a storage may hold", () => {
  expect([[0, 3], [1], ["0", "1"], [-1, 2], null, "ab"].filter(isRange)).toEqual([[0, 3]]);
});
