/** Reports over HTTP: the same question gives the page and its table for a spreadsheet. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import type { Report } from "@/generated/api";
import { request } from "@/shared/api/http";

import { toApiQuery, type Filters } from "./filters";

const addressOf = (path: string, filters: Filters): string => `${path}?${toApiQuery(filters).toString()}`;

export const reportQuery = (filters: Filters) =>
  queryOptions({
    queryKey: ["report", filters],
    queryFn: () => request<Report>("GET", addressOf("/report", filters)),
    placeholderData: keepPreviousData,
    refetchInterval: 60_000,
  });

export const tableAddress = (filters: Filters): string => `/api${addressOf("/report.csv", filters)}`;
