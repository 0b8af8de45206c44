/** What the queue is narrowed to; it lives in the address. Pure. */
import type { SessionFilters } from "@/generated/api";
import type { Outcome } from "@/generated/vocabulary";

export const OUTCOMES = ["success", "failure", "infeasible"] as const satisfies Outcome[];

export type Filters = {
  readonly pool: string | null;
  readonly annotator: string | null;
  readonly outcome: (typeof OUTCOMES)[number] | null;
  readonly returned: boolean;
  readonly after: string | null;
};

/** Read filters out of an address; what makes no sense is no filter. */
export function fromSearch(search: URLSearchParams): Filters {
  const pool = search.get("pool");
  return {
    pool: pool && /^\d+$/.test(pool) ? pool : null,
    annotator: search.get("annotator"),
    outcome: OUTCOMES.find((outcome) => outcome === search.get("outcome")) ?? null,
    returned: search.get("returned") === "true",
    after: search.get("after"),
  };
}

/** Where an episode of the queue is reviewed; going on from there stays within the filters. */
export const reviewOf = (episode: string, filters: Filters) => ({
  pathname: `/episodes/${episode}`,
  search: toSearch({ ...filters, after: null }).toString(),
});

/** The recorded sessions that the filters leave in the queue. */
export const sessionFilters = ({ pool, annotator, outcome }: Filters): SessionFilters => ({
  pool: pool === null ? null : Number(pool),
  annotator,
  outcome,
  review: "pending",
});

/** Write them into an address: only what narrows. */
export function toSearch(filters: Filters): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) search.set(name, String(value));
  return search;
}
