/** The wall over HTTP: who works now, and tickets for what they see. */
import { keepPreviousData, queryOptions } from "@tanstack/react-query";

import type { WallPage } from "@/generated/api";
import { request } from "@/shared/api/http";
import type { ThumbnailStream } from "@/streams/thumbnails";

const POLL_MS = 3_000;

export const wallQuery = (page: number) =>
  queryOptions({
    queryKey: ["wall", page],
    queryFn: () => request<WallPage>("GET", `/wall?page=${page}`),
    refetchInterval: POLL_MS,
    placeholderData: keepPreviousData,
  });

/** Tickets hold for seconds and open one response each. */
export const ticketsFor = (episodes: readonly string[]): Promise<ThumbnailStream[]> =>
  request<ThumbnailStream[]>("POST", "/wall/tickets", { episodes });
