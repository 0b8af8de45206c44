/** The catalogue over HTTP: the address holds the query, so that it can be sent and kept. */
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { SavedQueryIn } from "@/generated/api";
import { request } from "@/shared/api/http";

/** How often a search that found nothing is repeated (ms): an episode is found seconds after it ended. */
const EMPTY_POLL_MS = 5_000;

export const resultsQuery = (search: URLSearchParams) =>
  queryOptions({
    queryKey: ["trajectories", search.toString()],
    queryFn: () => request("GET", `/trajectories?${search.toString()}`),
    placeholderData: keepPreviousData,
    refetchInterval: ({ state }) => (state.data?.items.length === 0 ? EMPTY_POLL_MS : false),
  });

export const facetsQuery = (search: URLSearchParams) => {
  const unpaged = new URLSearchParams(search);
  unpaged.delete("after");
  return queryOptions({
    queryKey: ["trajectories", "facets", unpaged.toString()],
    queryFn: () => request("GET", `/trajectories/facets?${unpaged.toString()}`),
    placeholderData: keepPreviousData,
  });
};

export const savedQueriesQuery = queryOptions({
  queryKey: ["queries"],
  queryFn: () => request("GET", "/queries"),
});

export type Change =
  | { readonly type: "keep"; readonly query: SavedQueryIn }
  | { readonly type: "forget"; readonly id: number };

const send = (change: Change) =>
  change.type === "keep"
    ? request("POST", "/queries", change.query)
    : request("DELETE", `/queries/${change.id}`);

export function useChangeSavedQuery() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => client.invalidateQueries({ queryKey: savedQueriesQuery.queryKey }),
  });
}
