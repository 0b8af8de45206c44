/** What the list is narrowed to; it lives in the address, so a list can be bookmarked and sent. Pure. */
import type { EpisodeSummary } from "@/generated/api";

export const STATUSES = ["warming", "running", "paused", "finished", "left", "failed"] as const satisfies EpisodeSummary["status"][];
export const REVIEWS = ["pending", "accepted", "returned", "rejected"] as const satisfies EpisodeSummary["review"][];

export type Filters = {
  readonly status: EpisodeSummary["status"] | null;
  readonly review: EpisodeSummary["review"] | null;
  readonly pool: string | null;
  readonly annotator: string | null;
  readonly page: number;
};

/** Read filters out of an address; what makes no sense is no filter. */
export function fromSearch(search: URLSearchParams): Filters {
  const page = Number(search.get("page") ?? "1");
  const pool = search.get("pool");
  return {
    status: STATUSES.find((status) => status === search.get("status")) ?? null,
    review: REVIEWS.find((review) => review === search.get("review")) ?? null,
    pool: pool && /^\d+$/.test(pool) ? pool : null,
    annotator: search.get("annotator") ?? null,
    page: Number.isInteger(page) && page > 0 ? page : 1,
  };
}

/** Write them into an address: only what narrows. */
export function toSearch({ page, ...filters }: Filters): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(filters)) if (value) search.set(name, value);
  if (page > 1) search.set("page", String(page));
  return search;
}
