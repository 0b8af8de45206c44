/** The balance of difficulty over HTTP. */
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import { request } from "@/shared/api/http";

import { designQuery } from "@/features/design/api";

export const balanceQuery = (pool: number | null) => {
  const query = new URLSearchParams(pool === null ? {} : { pool: String(pool) });
  return queryOptions({
    queryKey: [...designQuery.queryKey, "balance", pool],
    queryFn: () => request("GET", `/design/balance?${query}`),
    placeholderData: keepPreviousData,
  });
};

export type Change =
  | { readonly type: "wanted"; readonly pool: number | null; readonly shares: Readonly<{ levels: readonly number[] }> | null }
  | { readonly type: "guess"; readonly pool: number | null };

async function send(change: Change): Promise<unknown> {
  switch (change.type) {
    case "wanted":
      return request("POST", "/design/balance", { pool: change.pool, shares: change.shares });
    case "guess":
      return request("POST", "/design/difficulties", { pool: change.pool });
  }
}

export function useBalanceChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: designQuery.queryKey }) });
}
