/** Exports over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { ExportIn, ExportOut, PoolSummary } from "@/generated/api";
import { request } from "@/shared/api/http";

const unfinished = ({ status }: ExportOut) => status === "queued" || status === "running";

/** The newest exports; asked again every second while one is being written. */
export const exportsQuery = queryOptions({
  queryKey: ["exports"],
  queryFn: () => request<ExportOut[]>("GET", "/exports"),
  refetchInterval: (query) => (query.state.data?.some(unfinished) ? 1_000 : 30_000),
});

export const poolsQuery = queryOptions({
  queryKey: ["pools"],
  queryFn: () => request<PoolSummary[]>("GET", "/pools"),
  staleTime: 60_000,
});

export function useStartExport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (wish: ExportIn) => request<ExportOut>("POST", "/exports", wish),
    onSuccess: () => client.invalidateQueries({ queryKey: exportsQuery.queryKey }),
  });
}
