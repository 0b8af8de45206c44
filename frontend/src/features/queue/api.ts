/** The queue over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { NextIn, NextOut, Queue } from "@/generated/api";
import { request } from "@/shared/api/http";

export const queueQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: () => request<Queue>("GET", "/queue"),
  refetchInterval: 15_000,
});

/** Claim the next task; the answer names no episode when nothing waits. */
export function useNextTask() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (wish: Partial<NextIn>) => request<NextOut>("POST", "/queue/next", wish),
    onSettled: () => client.invalidateQueries({ queryKey: queueQuery.queryKey }),
  });
}
