/** Walking a grid of seven tiles, three a row. */
import { describe, expect, it } from "vitest";

import { columnsOf, placeAfter } from "./grid-keys";

describe("arrows in a grid", () => {
  it.each([
    ["ArrowRight", 0, 1],
    ["ArrowRight", 6, null],
    ["ArrowLeft", 0, null],
    ["ArrowDown", 1, 4],
    ["ArrowDown", 5, null],
    ["ArrowUp", 4, 1],
    ["ArrowUp", 1, null],
    ["Home", 5, 0],
    ["End", 2, 6],
    ["x", 2, null],
  ])("%s at %i leads to %s", (key, at, place) => expect(placeAfter(key, at, 7, 3)).toBe(place));

  it("counts the tiles of the first row", () => {
    expect(columnsOf([0, 0, 0, 90, 90].map((offsetTop) => ({ offsetTop })))).toBe(3);
    expect(columnsOf([{ offsetTop: 4 }, { offsetTop: 4 }])).toBe(2);
    expect(columnsOf([])).toBe(1);
  });
});
