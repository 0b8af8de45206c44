/** What needs you, over HTTP. */
import { queryOptions } from "@tanstack/react-query";

import type { Home } from "@/generated/api";
import { request } from "@/shared/api/http";

const POLL_MS = 15_000;

export const homeQuery = queryOptions({
  queryKey: ["home"],
  queryFn: () => request("GET", "/home"),
  refetchInterval: POLL_MS,
});

export type Item = Home["items"][number];
