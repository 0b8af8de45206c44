/** Pictures of a suite's tasks over HTTP; asked again every two seconds while a worker makes them. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import { request } from "./http";

const PENDING_MS = 2_000;
const DAY_MS = 86_400_000;

export interface SuiteForm {
  readonly suite: string;
  readonly level?: number;
  readonly seed?: number;
  readonly language?: "en" | "zh";
  /** Of the screen, as `640x480`; empty: each task's own. */
  readonly size?: string;
}

export const picturesQuery = ({ suite, level = 1, seed = 0, language = "en", size = "" }: SuiteForm) => {
  const form = new URLSearchParams({ level: String(level), seed: String(seed), language, size }).toString();
  return queryOptions({
    queryKey: ["task-pictures", suite, form],
    queryFn: () => request("GET", `/suites/${suite}/pictures?${form}`),
    placeholderData: (before, query) => (query?.queryKey[1] === suite ? keepPreviousData(before) : undefined),
    staleTime: ({ state }) => (state.data?.pending ? 0 : DAY_MS),
    refetchInterval: ({ state }) => (state.data?.pending ? PENDING_MS : false),
  });
};
