/** Benchmark runs over HTTP: how far each is, its newest attempts, and what admins do with them. */
import { queryOptions, useQueryClient } from "@tanstack/react-query";

import type { BenchmarkRunIn, BenchmarkRunRow } from "@/generated/api";
import { request } from "@/shared/api/http";

const RUNNING_MS = 2_000;
const IDLE_MS = 30_000;

const ACTIVE: ReadonlySet<BenchmarkRunRow["status"]> = new Set(["waiting", "starting", "running", "cancelling"]);

export const isActive = ({ status }: BenchmarkRunRow): boolean => ACTIVE.has(status);

/** The page; asked again every two seconds while attempts are made. */
export const benchmarksQuery = queryOptions({
  queryKey: ["benchmarks"],
  queryFn: () => request("GET", "/benchmarks"),
  refetchInterval: (query) => (query.state.data?.runs.some(isActive) ? RUNNING_MS : IDLE_MS),
});

/** Runs without a result, for the page of evaluations. */
export const unfinishedQuery = queryOptions({
  queryKey: ["benchmarks", "unfinished"],
  queryFn: () => request("GET", "/benchmarks/-/unfinished"),
  refetchInterval: (query) => (query.state.data?.runs.some(isActive) ? RUNNING_MS : IDLE_MS),
});

/** A run with its newest attempts; asked again every two seconds until it ends. */
export const runQuery = (name: string) =>
  queryOptions({
    queryKey: ["benchmarks", "run", name],
    queryFn: () => request("GET", `/benchmarks/${name}`),
    refetchInterval: (query) => (query.state.data && isActive(query.state.data.run) ? RUNNING_MS : false),
  });

/** What a run is chosen from. */
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

/** Has the same evaluation made from the beginning, as a run of its own. */
export const useRestart = () => usePost((run: string) => request("POST", `/benchmarks/${run}/restart`));

/** Deletes a run with its attempts. */
export const useDelete = () => usePost((run: string) => request("DELETE", `/benchmarks/${run}`));

/** Lets a run begin no further attempt. */
export const useCancel = () => usePost((run: string) => request("POST", `/benchmarks/${run}/cancel`));
