/** Imports over HTTP. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { ImportOut } from "@/generated/api";
import { ApiError, request } from "@/shared/api/http";

export const isRunning = ({ status }: ImportOut) => status === "queued" || status === "running";

/** The newest imports; asked again every second while one is being taken in. */
export const importsQuery = queryOptions({
  queryKey: ["imports"],
  queryFn: () => request("GET", "/imports"),
  refetchInterval: (query) => (query.state.data?.some(isRunning) ? 1_000 : 30_000),
});

/** The rows of an import that did not come in. */
export const rejectedRowsQuery = (id: string) =>
  infiniteQueryOptions({
    queryKey: ["imports", id, "refused"],
    queryFn: ({ pageParam }) => request("GET", `/imports/${id}/refused?after=${pageParam}`),
    initialPageParam: 0,
    getNextPageParam: (page) => page.next,
  });

/** The person's uploads that wait for parts. */
export const uploadsQuery = queryOptions({
  queryKey: ["uploads"],
  queryFn: () => request("GET", "/imports/uploads"),
});

/** Forget an upload and what arrived of it. One that has expired, or became an import, is left as it is. */
export const cancelUpload = (id: string) =>
  request("DELETE", `/imports/uploads/${id}`).catch((error: unknown) => {
    if (!(error instanceof ApiError && error.status === 404)) throw error;
  });

/** Stop an import, or take up one that ended before it was done. */
export function useChangeImport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, change }: { id: string; change: "cancel" | "retry" }) => request("POST", `/imports/${id}/${change}`),
    onSettled: () => client.invalidateQueries({ queryKey: importsQuery.queryKey }),
  });
}
