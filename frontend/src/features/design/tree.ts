/** The graph as a list that is walked by keys; pure functions. */
import type { NodeOut } from "@/generated/api";

export type Line = { readonly node: NodeOut; readonly depth: number; readonly path: string; readonly branches: boolean };

/** Every node below an open one, in the order in which it stands on the page: heavier first. */
export function lines(nodes: readonly NodeOut[], closed: ReadonlySet<number>): Line[] {
  const below = new Map<number | null, NodeOut[]>();
  for (const node of nodes) below.set(node.parent, [...(below.get(node.parent) ?? []), node]);
  const walk = (parent: number | null, depth: number, before: string): Line[] =>
    (below.get(parent) ?? [])
      .toSorted((a, b) => b.weight - a.weight || a.name.localeCompare(b.name))
      .flatMap((node) => {
        const path = before ? `${before} / ${node.name}` : node.name;
        const line = { node, depth, path, branches: below.has(node.id) };
        return [line, ...(closed.has(node.id) ? [] : walk(node.id, depth + 1, path))];
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
export function moved(shown: readonly Line[], at: number, move: Move, closed: ReadonlySet<number>): { node: number; toggled: boolean } {
  const place = Math.max(0, shown.findIndex(({ node }) => node.id === at));
  const line = shown[place];
  const to = (index: number) => ({ node: shown[Math.min(Math.max(index, 0), shown.length - 1)]?.node.id ?? at, toggled: false });
  switch (move) {
    case "up":
      return to(place - 1);
    case "down":
      return to(place + 1);
    case "first":
      return to(0);
    case "last":
      return to(shown.length - 1);
    case "into":
      return line?.branches && closed.has(line.node.id) ? { node: line.node.id, toggled: true } : to(line?.branches ? place + 1 : place);
    case "out":
      if (line?.branches && !closed.has(line.node.id)) return { node: line.node.id, toggled: true };
      return { node: line?.node.parent ?? at, toggled: false };
  }
}
