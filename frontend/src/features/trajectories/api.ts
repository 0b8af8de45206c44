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

export function useKeepQuery() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (query: SavedQueryIn) => request<SavedQueryOut>("POST", "/queries", query),
    onSuccess: () => client.invalidateQueries({ queryKey: keptQuery.queryKey }),
  });
}
