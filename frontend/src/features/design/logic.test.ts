/** What of task design is calculated on the page: addresses, importance, difficulty, shares. */
import { describe, expect, it } from "vitest";

import { cellOf, cellSearch, viewOf } from "./address";
import { isWhole } from "./balance/shares";
import { levelOf, pointsOf } from "./difficulty";
import { importanceOf } from "./importance";

const SCALE = { steps_of: [4, 10, 20, 40], max_points: 2, level_of: [0, 2, 4, 6] };
const WEIGHTS = { frequency: 0.4, benefit: 0.4, transfer: 0.2 };
const rubric = (steps: number, pages = 0, prerequisites = 0, exceptions = 0) => ({ steps, pages, prerequisites, exceptions });

describe("addresses", () => {
  it("have a view, a node and a level, and nothing that is none", () => {
    expect(["", "view=balance", "view=nowhere"].map((text) => viewOf(new URLSearchParams(text)))).toEqual(["graph", "balance", "graph"]);
    expect(cellOf(new URLSearchParams("node=3&level=2"))).toEqual({ node: 3, level: 2 });
    expect(cellOf(new URLSearchParams("level=2"))).toEqual({ node: null, level: null });
    expect(cellOf(new URLSearchParams("node=-1&level=x"))).toEqual({ node: null, level: null });
  });

  it("come back as they were", () => {
    for (const cell of [{ node: null, level: null }, { node: 7, level: null }, { node: 7, level: 5 }])
      expect(cellOf(cellSearch(cell))).toEqual(cell);
  });
});

it("weighs measures as the server does", () => {
  expect(importanceOf({ frequency: 8, benefit: 5, transfer: 2 }, WEIGHTS)).toBe(5.6);
  expect(importanceOf({ frequency: 10, benefit: 10, transfer: 10 }, WEIGHTS)).toBe(10);
});

it.each([
  [rubric(2), 1],
  [rubric(8), 2],
  [rubric(8, 1), 2],
  [rubric(15, 1), 3],
  [rubric(25, 2, 1), 4],
  [rubric(60, 2, 0, 1), 5],
])("makes a level of a rubric as the server does: %o", (counts, level) => {
  expect(levelOf(pointsOf(counts, SCALE), SCALE)).toBe(level);
});

it("takes shares that are whole percentages and 100 together", () => {
  expect([[20, 20, 20, 20, 20], [100, 0, 0, 0, 0], [20, 20, 20, 20, 19], [120, -20, 0, 0, 0], [20.5, 19.5, 20, 20, 20]].map(isWhole)).toEqual([
    true, true, false, false, false,
  ]);
});
