/** The wall over HTTP: live sessions, and tickets for their pictures. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import type { WallStream } from "@/generated/api";
import { request } from "@/shared/api/http";

const POLL_MS = 3_000;

export const wallQuery = (page: number) =>
  queryOptions({
    queryKey: ["wall", page],
    queryFn: () => request("GET", `/wall?page=${page}`),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });

/** Tickets for small pictures, by bridge host. Each is valid for seconds and for one use. */
export const ticketsFor = (episodes: readonly string[]): Promise<WallStream[]> =>
  request("POST", "/wall/tickets", { episodes });
