/** The graph as a list that is walked by keys; pure functions. */
import type { NodeOut } from "@/generated/api";

type TreeRow = { readonly node: NodeOut; readonly depth: number; readonly path: string; readonly branches: boolean };

/** Every node below an open one, in the order in which it stands on the page: heavier first. */
export function treeRows(nodes: readonly NodeOut[], closed: ReadonlySet<number>): TreeRow[] {
  const below = new Map<number | null, NodeOut[]>();
  for (const node of nodes) below.set(node.parent, [...(below.get(node.parent) ?? []), node]);
  const walk = (parent: number | null, depth: number, before: string): TreeRow[] =>
    (below.get(parent) ?? [])
      .toSorted((a, b) => b.weight - a.weight || a.name.localeCompare(b.name))
      .flatMap((node) => {
        const path = before ? `${before} / ${node.name}` : node.name;
        const row = { node, depth, path, branches: below.has(node.id) };
        return [row, ...(closed.has(node.id) ? [] : walk(node.id, depth + 1, path))];
      });
  return walk(null, 0, "");
}

export type Move = "up" | "down" | "first" | "last" | "into" | "out";

export const MOVES: Readonly<Record<string, Move>> = {
  ArrowUp: "up",
  ArrowDown: "down",
  Home: "first",
  End: "last",
  ArrowRight: "into",
  ArrowLeft: "out",
};

/** Where a key leads: another line, or the present one opened or closed. */
export function moveSelection(rows: readonly TreeRow[], at: number, move: Move, closed: ReadonlySet<number>): { node: number; toggled: boolean } {
  const rowIndex = Math.max(0, rows.findIndex(({ node }) => node.id === at));
  const row = rows[rowIndex];
  const to = (index: number) => ({ node: rows[Math.min(Math.max(index, 0), rows.length - 1)]?.node.id ?? at, toggled: false });
  switch (move) {
    case "up":
      return to(rowIndex - 1);
    case "down":
      return to(rowIndex + 1);
    case "first":
      return to(0);
    case "last":
      return to(rows.length - 1);
    case "into":
      return row?.branches && closed.has(row.node.id) ? { node: row.node.id, toggled: true } : to(row?.branches ? rowIndex + 1 : rowIndex);
    case "out":
      if (row?.branches && !closed.has(row.node.id)) return { node: row.node.id, toggled: true };
      return { node: row?.node.parent ?? at, toggled: false };
  }
}
