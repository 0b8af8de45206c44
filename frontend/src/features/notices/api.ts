/** What one is told, over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { request } from "@/shared/api/http";

export const noticesQuery = queryOptions({
  queryKey: ["notices"],
  queryFn: () => request("GET", "/notices"),
  refetchInterval: 30_000,
});

/** Note that one has read them, up to this one. */
export function useRead() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (until: number) => request("POST", "/notices/read", { until }),
    onSettled: () => client.invalidateQueries({ queryKey: noticesQuery.queryKey }),
  });
}
