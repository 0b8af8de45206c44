/** What of task design the page's address shows: a view, and in the graph a node and a level. */
import type { CellSelection } from "./api";

export const VIEWS = ["graph", "applications", "balance"] as const;
export type View = (typeof VIEWS)[number];

export const viewOf = (search: URLSearchParams): View => VIEWS.find((view) => view === search.get("view")) ?? "graph";

export const cellOf = (search: URLSearchParams): CellSelection => {
  const node = wholeNumber(search.get("node"));
  return { node, level: node === null ? null : wholeNumber(search.get("level")) };
};

/** The address of a cell of the graph, or of the tasks that stand nowhere. */
export function cellSearch({ node, level }: CellSelection): URLSearchParams {
  const search = new URLSearchParams();
  if (node !== null) search.set("node", String(node));
  if (node !== null && level !== null) search.set("level", String(level));
  return search;
}

/** A positive whole number of an address; null where it is none. */
export function wholeNumber(text: string | null): number | null {
  return text !== null && /^[1-9]\d{0,9}$/.test(text) ? Number(text) : null;
}
