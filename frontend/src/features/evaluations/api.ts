/** Evaluations over HTTP: the list, a report, two of them against each other, and registering a run. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { RunRegistration } from "@/generated/api";
import { request } from "@/shared/api/http";

const KEY = "evaluations";
const POLL_MS = 30_000;

export const evaluationsQuery = queryOptions({
  queryKey: [KEY],
  queryFn: () => request("GET", "/evaluations"),
  refetchInterval: POLL_MS,
});

export const evaluationQuery = (id: string) =>
  queryOptions({
    queryKey: [KEY, "one", id],
    queryFn: () => request("GET", `/evaluations/${id}`),
  });

export const comparisonQuery = (before: string, after: string) =>
  queryOptions({
    queryKey: [KEY, "comparison", before, after],
    queryFn: () => request("GET", `/evaluations/${after}/against/${before}`),
  });

/** Registers a run: its report and, if it is new, its revision. It promotes nothing. */
export function useRegister() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (run: RunRegistration) => request("POST", "/evaluations", run),
    onSuccess: () => client.invalidateQueries({ queryKey: [KEY] }),
  });
}

/** Deletes a registered report, or a run with its attempts. */
export function useDeleteEvaluation() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (id: string) => request("DELETE", `/evaluations/${id}`),
    onSuccess: () => client.invalidateQueries({ queryKey: [KEY], exact: true }),
  });
}

export const pathOf = (id: string): string => `/evaluations/${id}`;
