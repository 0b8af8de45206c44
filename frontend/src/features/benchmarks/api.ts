/** Benchmark runs over HTTP: how far each is, its newest attempts, and an admin's cancelling. */
import { queryOptions, useQueryClient } from "@tanstack/react-query";

import type { BenchmarkRunOut, BenchmarkRunRow, BenchmarksPage } from "@/generated/api";
import { request } from "@/shared/api/http";

const RUNNING_MS = 2_000;
const IDLE_MS = 30_000;

export const isActive = ({ status }: BenchmarkRunRow): boolean => status === "running" || status === "cancelling";

/** The page; asked again every two seconds while attempts are made. */
export const benchmarksQuery = queryOptions({
  queryKey: ["benchmarks"],
  queryFn: () => request<BenchmarksPage>("GET", "/benchmarks"),
  refetchInterval: (query) => (query.state.data?.runs.some(isActive) ? RUNNING_MS : IDLE_MS),
});

export const runQuery = (run: BenchmarkRunRow) =>
  queryOptions({
    queryKey: ["benchmarks", "run", run.name],
    queryFn: () => request<BenchmarkRunOut>("GET", `/benchmarks/${run.name}`),
    refetchInterval: isActive(run) ? RUNNING_MS : false,
  });

/** Lets a run begin no further attempt. */
export function useCancel() {
  const client = useQueryClient();
  return async (run: string) => {
    await request("POST", `/benchmarks/${run}/cancel`);
    await client.invalidateQueries({ queryKey: benchmarksQuery.queryKey });
  };
}
