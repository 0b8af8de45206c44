/** The queue over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { NextIn } from "@/generated/api";
import { ApiError, request } from "@/shared/api/http";
import type { Terms } from "@/shared/ui/consent-dialog";

export const queueQuery = queryOptions({
  queryKey: ["queue"],
  queryFn: () => request("GET", "/queue"),
  refetchInterval: 15_000,
});

/** Claim the next task; the answer names no episode when nothing waits. With a task, the page is left at once: the queue is
 * asked again when they come back. */
export function useNextTask() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (claim: Partial<NextIn>) => request("POST", "/queue/next", claim),
    onSettled: (next) => {
      const refetchType = next?.episode_id ? "none" : "active";
      void client.invalidateQueries({ queryKey: queueQuery.queryKey, refetchType });
    },
  });
}

/** The terms a claim was refused for, if it was for that. */
export const termsOf = (error: unknown): Terms | null =>
  error instanceof ApiError && error.code === "consent_needed" ? (error.extra as Terms) : null;

export function useConsent() {
  return useMutation({
    mutationFn: ({ pool, version }: Terms) => request("POST", `/pools/${pool}/consent`, { version }),
  });
}
