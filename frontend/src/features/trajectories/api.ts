/** The catalogue over HTTP: the address holds the query, so that it can be sent and kept. */
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { Facets, FoundPage, SavedQueryIn, SavedQueryOut } from "@/generated/api";
import { request } from "@/shared/api/http";

export const foundQuery = (search: URLSearchParams) =>
  queryOptions({
    queryKey: ["trajectories", search.toString()],
    queryFn: () => request<FoundPage>("GET", `/trajectories?${search.toString()}`),
    placeholderData: keepPreviousData,
  });

export const facetsQuery = (search: URLSearchParams) => {
  const narrowed = new URLSearchParams(search);
  narrowed.delete("after");
  return queryOptions({
    queryKey: ["trajectories", "facets", narrowed.toString()],
    queryFn: () => request<Facets>("GET", `/trajectories/facets?${narrowed.toString()}`),
    placeholderData: keepPreviousData,
  });
};

export const keptQuery = queryOptions({
  queryKey: ["queries"],
  queryFn: () => request<SavedQueryOut[]>("GET", "/queries"),
});

export type Change =
  | { readonly do: "keep"; readonly query: SavedQueryIn }
  | { readonly do: "forget"; readonly id: number };

const send = (change: Change) =>
  change.do === "keep"
    ? request<SavedQueryOut>("POST", "/queries", change.query)
    : request<null>("DELETE", `/queries/${change.id}`);

export function useChangeKept() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => client.invalidateQueries({ queryKey: keptQuery.queryKey }),
  });
}
