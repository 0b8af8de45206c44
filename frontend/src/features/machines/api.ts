/** The fleet over HTTP: what there is now, and an admin's changes to it. */
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { Quota } from "@/generated/api";
import { request } from "@/shared/api/http";
import { byName } from "@/shared/natural-order";

const REFRESH_MS = 2_000;

export const fleetQuery = queryOptions({
  queryKey: ["fleet"],
  queryFn: () => request("GET", "/fleet"),
  refetchInterval: REFRESH_MS,
});

/** How many days of prepared requests the page shows. */
export const PREPARED_DAYS = 14;

/** What prepared model requests cost, by day and pool. */
export const preparedQuery = queryOptions({
  queryKey: ["prepared-requests"],
  queryFn: () => request("GET", `/fleet/prepared-requests?days=${PREPARED_DAYS}`),
  refetchInterval: 30_000,
});

/** Users or pools to choose from: people by the words that are searched for, and all pools. */
export const quotaNamesQuery = (scope: Quota["scope"], search: string) =>
  queryOptions({
    queryKey: ["quota-names", scope, search],
    queryFn: async (): Promise<{ value: string; label: string }[]> => {
      if (scope === "pool") return byName(await request("GET", "/pools")).map(({ name }) => ({ value: name, label: name }));
      const { items } = await request("GET", `/people?${new URLSearchParams({ search }).toString()}`);
      return items.map(({ username, name }) => ({ value: username, label: name === username ? name : `${name} (${username})` }));
    },
    placeholderData: keepPreviousData,
  });

export const machinePath = (id: string) => `/fleet/machines/${encodeURIComponent(id)}` as const;

/** Where a machine's picture is; `at` makes it a new one. */
export const thumbnailUrl = (id: string, at: string): string =>
  `/api${machinePath(id)}/thumbnail?at=${encodeURIComponent(at)}`;

export type Change =
  | { readonly type: "reclaim"; readonly machine: string; readonly reason: string }
  | { readonly type: "drain"; readonly host: string; readonly draining: boolean }
  | { readonly type: "warm"; readonly image: string; readonly count: number }
  | { readonly type: "quota"; readonly quota: Pick<Quota, "scope" | "name" | "limit"> };

function send(change: Change): Promise<null> {
  switch (change.type) {
    case "reclaim":
      return request("POST", `${machinePath(change.machine)}/reclaim`, { reason: change.reason });
    case "drain":
      return request("POST", `/fleet/hosts/${encodeURIComponent(change.host)}/draining`, { draining: change.draining });
    case "warm":
      return request("POST", `/fleet/images/${encodeURIComponent(change.image)}/warm`, { count: change.count });
    case "quota":
      return request("POST", "/fleet/quotas", change.quota);
  }
}

export function useChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: fleetQuery.queryKey }) });
}
