/** Which drafts are shown: read from the page's address, and written to it and to the API. */
import type { DraftFilters, DraftsOverview } from "@/generated/api";

export const EXPERTISES = ["novice", "intermediate", "expert"] as const;
export const SCOPES = ["single", "several"] as const;
export const STATES = ["waiting", "accepted", "rejected"] as const;
export const AUTHORS = ["person", "model"] as const;

export type Expertise = (typeof EXPERTISES)[number];
export type Scope = (typeof SCOPES)[number];

export type DraftView = { readonly node: number } & {
  readonly [Name in keyof DraftFilters]-?: NonNullable<DraftFilters[Name]> | null;
};

const CHOICES = { expertise: EXPERTISES, scope: SCOPES, written_by: AUTHORS } as const;
const NAMES = ["expertise", "scope", "written_by"] as const;
const ANY = "any";

/** Those that wait, unless the address says otherwise. Without a node, the first application that has some. */
export function fromSearch(search: URLSearchParams, nodes: DraftsOverview["nodes"]): DraftView | null {
  const wanted = Number(search.get("node"));
  const roots = nodes.filter(({ path }) => path.length === 1);
  const node = nodes.find(({ id }) => id === wanted) ?? roots.find(({ waiting }) => waiting > 0) ?? roots[0];
  if (!node) return null;
  const state = search.get("state");
  return {
    node: node.id,
    state: state === ANY ? null : (STATES.find((one) => one === state) ?? "waiting"),
    expertise: chosen("expertise", search),
    scope: chosen("scope", search),
    written_by: chosen("written_by", search),
  };
}

function chosen<Name extends keyof typeof CHOICES>(name: Name, search: URLSearchParams): (typeof CHOICES)[Name][number] | null {
  const choices: readonly (typeof CHOICES)[Name][number][] = CHOICES[name];
  return choices.find((choice) => choice === search.get(name)) ?? null;
}

export function toSearch(view: DraftView): URLSearchParams {
  const search = new URLSearchParams({ node: String(view.node) });
  if (view.state !== "waiting") search.set("state", view.state ?? ANY);
  for (const name of NAMES) {
    const value = view[name];
    if (value !== null) search.set(name, value);
  }
  return search;
}

export function apiQuery(view: DraftView, after: number): URLSearchParams {
  const query = toSearch(view);
  if (view.state === null) query.delete("state");
  else query.set("state", view.state);
  if (after > 0) query.set("after", String(after));
  return query;
}
