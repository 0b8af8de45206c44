/** Refining, and writing variants of, the thoughts of many sessions, over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { BatchIn, BatchSummary } from "@/generated/api";
import { request } from "@/shared/api/http";

const POLL_MS = 1_000;

export const isUnderWay = ({ status }: Pick<BatchSummary, "status">): boolean => status === "queued" || status === "running";

/** One's newest batches, and the models that can write. */
export const batchesQuery = queryOptions({
  queryKey: ["reviews", "batches"],
  queryFn: () => request("GET", "/reviews/batches"),
  refetchInterval: ({ state }) => (state.data?.batches.some(isUnderWay) ? POLL_MS : false),
});

/** A batch with each of its sessions. */
export const batchQuery = (id: string) =>
  queryOptions({
    queryKey: ["reviews", "batches", id],
    queryFn: () => request("GET", `/reviews/batches/${id}`),
    refetchInterval: ({ state }) => (state.data && isUnderWay(state.data) ? POLL_MS : false),
  });

export type BatchChange = { readonly start: BatchIn } | { readonly id: string; readonly change: "cancel" | "resume" };

export function useBatch() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (wanted: BatchChange): Promise<void> => {
      if ("start" in wanted) await request("POST", "/reviews/batches", wanted.start);
      else if (wanted.change === "cancel") await request("POST", `/reviews/batches/${wanted.id}/cancel`);
      else await request("POST", `/reviews/batches/${wanted.id}/resume`);
    },
    onSettled: () => client.invalidateQueries({ queryKey: batchesQuery.queryKey }),
  });
}
