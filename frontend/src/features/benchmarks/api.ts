/** Benchmark runs over HTTP: how far each is, its newest attempts, and what admins do with them. */
import { queryOptions, useQueryClient } from "@tanstack/react-query";

import type { BenchmarkRunIn, BenchmarkRunRow } from "@/generated/api";
import { request } from "@/shared/api/http";

const RUNNING_MS = 2_000;
const IDLE_MS = 30_000;

export const isActive = ({ status }: BenchmarkRunRow): boolean => status === "starting" || status === "running" || status === "cancelling";

/** The page; asked again every two seconds while attempts are made. */
export const benchmarksQuery = queryOptions({
  queryKey: ["benchmarks"],
  queryFn: () => request("GET", "/benchmarks"),
  refetchInterval: (query) => (query.state.data?.runs.some(isActive) ? RUNNING_MS : IDLE_MS),
});

export const runQuery = (run: BenchmarkRunRow) =>
  queryOptions({
    queryKey: ["benchmarks", "run", run.name],
    queryFn: () => request("GET", `/benchmarks/${run.name}`),
    refetchInterval: isActive(run) ? RUNNING_MS : false,
  });

/** What a run is chosen from; for admins. */
export const choicesQuery = queryOptions({
  queryKey: ["benchmarks", "choices"],
  queryFn: () => request("GET", "/benchmarks/-/choices"),
});

function usePost<Given extends unknown[], Answer>(send: (...given: Given) => Promise<Answer>) {
  const client = useQueryClient();
  return async (...given: Given) => {
    const answer = await send(...given);
    await client.invalidateQueries({ queryKey: benchmarksQuery.queryKey });
    return answer;
  };
}

/** Has a run begun by a worker. */
export const useStart = () => usePost((run: BenchmarkRunIn) => request("POST", "/benchmarks", run));

/** Has the missing attempts of a run made. */
export const useResume = () => usePost((run: string) => request("POST", `/benchmarks/${run}/resume`));

/** Lets a run begin no further attempt. */
export const useCancel = () => usePost((run: string) => request("POST", `/benchmarks/${run}/cancel`));
