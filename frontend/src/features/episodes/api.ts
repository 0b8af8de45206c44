/** Lists of episodes over HTTP. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { byName } from "@/shared/natural-order";
import { request } from "@/shared/api/http";

import { toSearch, type Filters } from "./filters";

export const episodesQuery = (filters: Filters) =>
  queryOptions({
    queryKey: ["episodes", filters],
    queryFn: () => request("GET", `/episodes?${toSearch(filters).toString()}`),
    placeholderData: keepPreviousData,
  });

export const poolsQuery = queryOptions({
  queryKey: ["pools"],
  queryFn: async () => byName(await request("GET", "/pools")),
  staleTime: 60_000,
});
