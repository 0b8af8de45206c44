/** Task drafts over HTTP: those of a node, requests for them, and decisions. */
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { DraftAcceptIn, DraftContent, DraftRequestIn } from "@/generated/api";
import { request } from "@/shared/api/http";

import { apiQuery, type DraftView } from "./filters";

const KEY = ["design", "drafts"] as const;
const POLL_MS = 2_000;

export const overviewQuery = queryOptions({
  queryKey: [...KEY, "overview"],
  queryFn: () => request("GET", "/design/drafts/overview"),
});

export const draftsQuery = (view: DraftView, after: number) => {
  const query = apiQuery(view, after).toString();
  return queryOptions({
    queryKey: [...KEY, query],
    queryFn: () => request("GET", `/design/drafts?${query}`),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (isUnderWay(state.data?.request?.status) ? POLL_MS : false),
  });
};

/** What says the same as these drafts, in the graph and in the pool. */
export const checkQuery = (drafts: readonly number[], pool: number) =>
  queryOptions({
    queryKey: [...KEY, "check", pool, drafts],
    queryFn: () => request("POST", "/design/drafts/check", { drafts, pool }),
  });

export const isUnderWay = (status: string | undefined) => status === "queued" || status === "running";

export type DraftChange =
  | { readonly type: "add"; readonly node: number; readonly content: DraftContent }
  | { readonly type: "edit"; readonly draft: number; readonly content: DraftContent }
  | { readonly type: "accept"; readonly wanted: DraftAcceptIn }
  | { readonly type: "reject"; readonly drafts: readonly number[]; readonly reason: string }
  | { readonly type: "reopen"; readonly drafts: readonly number[] }
  | { readonly type: "request"; readonly wanted: DraftRequestIn }
  | { readonly type: "cancel"; readonly request: string };

async function send(change: DraftChange): Promise<unknown> {
  switch (change.type) {
    case "add":
      return request("POST", "/design/drafts", { node: change.node, content: change.content });
    case "edit":
      return request("PATCH", `/design/drafts/${change.draft}`, change.content);
    case "accept":
      return request("POST", "/design/drafts/accept", change.wanted);
    case "reject":
      return request("POST", "/design/drafts/reject", { drafts: change.drafts, reason: change.reason });
    case "reopen":
      return request("POST", "/design/drafts/reopen", { drafts: change.drafts });
    case "request":
      return request("POST", "/design/draft-requests", change.wanted);
    case "cancel":
      return request("POST", `/design/draft-requests/${change.request}/cancel`);
  }
}

export function useDraftChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: ["design"] }) });
}
