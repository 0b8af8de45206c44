/** Reviewing over HTTP: what waits, an episode's sheet and everything that changes it, comparing, agreement, searches. */
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { CutIn, FixIn, JobOut, RemarkIn, ReviewIn } from "@/generated/api";
import { byName } from "@/shared/natural-order";
import { request } from "@/shared/api/http";

import { toSearch, type Filters } from "./filters";

const POLL_MS = 1_000;

export const isRunning = (job: JobOut | null): boolean => job?.status === "queued" || job?.status === "running";

export const queueQuery = (filters: Filters) =>
  queryOptions({
    queryKey: ["reviews", "queue", filters],
    queryFn: () => request("GET", `/reviews/queue?${toSearch(filters).toString()}`),
    placeholderData: keepPreviousData,
  });

export const poolsQuery = queryOptions({
  queryKey: ["pools"],
  queryFn: async () => byName(await request("GET", "/pools")),
  staleTime: 60_000,
});

/** All that belongs to reviewing an episode; asked again while it is done anew in a machine. */
export const reviewDetailsQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "sheet"],
    queryFn: () => request("GET", `/episodes/${episodeId}/review/sheet`),
    refetchInterval: ({ state }) => (isRunning(state.data?.check ?? null) ? POLL_MS : false),
  });

export type Change =
  | { readonly type: "claim" }
  | { readonly type: "release" }
  | ({ readonly type: "remark"; readonly index: number } & Pick<RemarkIn, "verdict" | "comment">)
  | ({ readonly type: "mend"; readonly index: number } & FixIn)
  | { readonly type: "cut"; readonly cut: CutIn }
  | { readonly type: "decide"; readonly review: ReviewIn }
  | { readonly type: "resubmit" }
  | { readonly type: "check" }
  | { readonly type: "cancel"; readonly job: string };

async function send(episodeId: string, change: Change): Promise<unknown> {
  const path = `/episodes/${episodeId}/review` as const;
  switch (change.type) {
    case "claim":
      return request("POST", `${path}/claim`);
    case "release":
      return request("DELETE", `${path}/claim`);
    case "remark":
      return request("POST", `${path}/steps/${change.index}`, { verdict: change.verdict, comment: change.comment });
    case "mend": {
      const { type: _, index, ...fix } = change;
      return request("POST", `${path}/steps/${index}/fixes`, fix);
    }
    case "cut":
      return request("POST", `${path}/cuts`, change.cut);
    case "decide":
      return request("POST", path, change.review);
    case "resubmit":
      return request("POST", `${path}/resubmission`);
    case "check":
      return request("POST", `${path}/checks`);
    case "cancel":
      return request("POST", `/review-jobs/${change.job}/cancel`);
  }
}

/** Any change of a review, one after the other: a decision must not overtake the comment before it. The sheet, the queue
 * and the lists are asked for anew, also where it was refused. */
export function useChange(episodeId: string) {
  const client = useQueryClient();
  return useMutation({
    scope: { id: `review ${episodeId}` },
    mutationFn: (change: Change) => send(episodeId, change),
    onSettled: () =>
      Promise.all([
        client.invalidateQueries({ queryKey: reviewDetailsQuery(episodeId).queryKey }),
        client.invalidateQueries({ queryKey: ["reviews"] }),
        client.invalidateQueries({ queryKey: ["episodes"] }),
        client.invalidateQueries({ queryKey: ["queue"] }),
      ]),
  });
}

/** Claim what is nearest behind (before) an episode in the queue; null when nothing waits. */
export function useNext() {
  return useMutation({
    mutationFn: (where: { after?: string; direction?: "next" | "previous"; filters?: Filters }) => {
      const { after = null, direction = "next", filters } = where;
      const pool = filters?.pool ? Number(filters.pool) : null;
      const { annotator = null, outcome = null, returned = false } = filters ?? {};
      return request("POST", "/reviews/next", { after, direction, pool, annotator, outcome, returned });
    },
  });
}

export const agreementQuery = (pool: string | null) =>
  queryOptions({
    queryKey: ["reviews", "agreement", pool],
    queryFn: () => request("GET", `/reviews/agreement?${new URLSearchParams(pool ? { pool } : {}).toString()}`),
    placeholderData: keepPreviousData,
  });

export const comparisonQuery = (one: string, other: string) =>
  queryOptions({
    queryKey: ["reviews", "comparison", one, other],
    queryFn: () => request("GET", `/reviews/comparison?one=${one}&other=${other}`),
  });

/** The finished attempts at the task of an episode, the newest first. */
export const attemptsQuery = (of: string) =>
  queryOptions({
    queryKey: ["reviews", "attempts", of],
    queryFn: () => request("GET", `/reviews/attempts?of=${of}`),
  });

/** The revisions there are, and the tasks that two of them both were given. */
export const sharedTasksQuery = (one: string | null, other: string | null) => {
  const query = one && other && one !== other ? new URLSearchParams({ one, other }).toString() : "";
  return queryOptions({
    queryKey: ["reviews", "meetings", query],
    queryFn: () => request("GET", `/reviews/meetings?${query}`),
    placeholderData: keepPreviousData,
  });
};

/** Chooses which of two attempts counts. A choice made while another is sent waits for it, so the last one holds. */
export function useAdjudicate() {
  const client = useQueryClient();
  return useMutation({
    scope: { id: "adjudication" },
    mutationFn: (choice: { chosen: string; reason: string }) => request("POST", "/reviews/adjudications", choice),
    onSettled: () => client.invalidateQueries({ queryKey: ["reviews"] }),
  });
}

export const duplicatesQuery = (pool: string) =>
  queryOptions({
    queryKey: ["reviews", "duplicates", pool],
    queryFn: () => request("GET", `/pools/${pool}/duplicates`),
    refetchInterval: ({ state }) => (isRunning(state.data?.job ?? null) ? POLL_MS : false),
  });

export function useSearch(pool: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (cancel: string | null) =>
      cancel ? request("POST", `/review-jobs/${cancel}/cancel`) : request("POST", `/pools/${pool}/duplicates`),
    onSettled: () => client.invalidateQueries({ queryKey: duplicatesQuery(pool).queryKey }),
  });
}
