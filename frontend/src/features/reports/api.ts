/** Reports over HTTP: the same question gives the page and its table for a spreadsheet. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { request } from "@/shared/api/http";

import { toApiQuery, type Filters } from "./filters";

export const reportQuery = (filters: Filters) =>
  queryOptions({
    queryKey: ["report", filters],
    queryFn: () => request("GET", `/report?${toApiQuery(filters).toString()}`),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });

export const tableAddress = (filters: Filters): string => `/api/report.csv?${toApiQuery(filters).toString()}`;
