/** The graph as a list: its order, what is closed, and where keys lead. */
import { describe, expect, it } from "vitest";

import type { NodeOut } from "@/generated/api";

import { treeRows, moveSelection } from "./tree";

const node = (id: number, parent: number | null, weight: number): NodeOut => ({
  id,
  parent,
  name: `n${id}`,
  importance: 1,
  measures: null,
  measured_by: "",
  weight,
  cells: [],
});
const NODES = [node(1, null, 0.3), node(2, null, 0.7), node(3, 1, 0.1), node(4, 1, 0.2), node(5, 4, 0.2)];
const OPEN: ReadonlySet<number> = new Set();

describe("lines", () => {
  it("puts the heavier first and what is below behind it", () => {
    expect(treeRows(NODES, OPEN).map(({ node: { id }, depth }) => [id, depth])).toEqual([
      [2, 0],
      [1, 0],
      [4, 1],
      [5, 2],
      [3, 1],
    ]);
  });

  it("leaves out what is below a closed one", () => {
    expect(treeRows(NODES, new Set([1])).map(({ node: { id } }) => id)).toEqual([2, 1]);
  });
});

describe("moved", () => {
  const go = (at: number, move: Parameters<typeof moveSelection>[2], closed = OPEN) => moveSelection(treeRows(NODES, closed), at, move, closed);

  it("goes up and down, and stays at the ends", () => {
    expect([go(2, "down").node, go(2, "up").node, go(3, "down").node, go(4, "first").node, go(2, "last").node]).toEqual([
      1, 2, 3, 2, 3,
    ]);
  });

  it("opens before it goes in, and closes before it goes out", () => {
    expect(go(1, "into", new Set([1]))).toEqual({ node: 1, toggled: true });
    expect(go(1, "into")).toEqual({ node: 4, toggled: false });
    expect(go(4, "out")).toEqual({ node: 4, toggled: true });
    expect(go(5, "out")).toEqual({ node: 4, toggled: false });
    expect(go(2, "out")).toEqual({ node: 2, toggled: false });
  });
});
