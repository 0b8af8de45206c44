/** The registry of policies over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { Gate, PoolPolicies, RevisionIn, RevisionSummary, StateOfNeed } from "@/generated/api";
import { request } from "@/shared/api/http";

const KEY = "policies";

export const revisionsQuery = queryOptions({
  queryKey: [KEY, "revisions"],
  queryFn: () => request<RevisionSummary[]>("GET", "/policies"),
  refetchInterval: 10_000,
});

export const poolsQuery = queryOptions({
  queryKey: [KEY, "pools"],
  queryFn: () => request<PoolPolicies[]>("GET", "/policies/pools"),
  refetchInterval: 10_000,
});

export const statesQuery = (pool: number) =>
  queryOptions({
    queryKey: [KEY, "states", pool],
    queryFn: () => request<StateOfNeed[]>("GET", `/pools/${pool}/states`),
  });

export type Change =
  | { readonly do: "activate"; readonly pool: number; readonly revision: number | null }
  | { readonly do: "try"; readonly pool: number; readonly revision: number | null; readonly share: number }
  | { readonly do: "gate"; readonly pool: number; readonly gate: Gate | null }
  | { readonly do: "sampling"; readonly pool: number; readonly sampling: PoolPolicies["sampling"] }
  | { readonly do: "register"; readonly revision: RevisionIn }
  | { readonly do: "reopen"; readonly task: number }
  | { readonly do: "begin"; readonly episode: string; readonly step: number };

function send(change: Change): Promise<unknown> {
  switch (change.do) {
    case "activate":
      return request("POST", `/pools/${change.pool}/policy`, { revision: change.revision });
    case "try":
      return request("POST", `/pools/${change.pool}/canary`, { revision: change.revision, share: change.share });
    case "gate":
      return request("POST", `/pools/${change.pool}/gate`, { gate: change.gate });
    case "sampling":
      return request("POST", `/pools/${change.pool}/sampling`, { sampling: change.sampling });
    case "register":
      return request("POST", "/policies", change.revision);
    case "reopen":
      return request("POST", `/tasks/${change.task}/reopen`);
    case "begin":
      return request("POST", `/episodes/${change.episode}/branch`, { step: change.step });
  }
}

export function useChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: [KEY] }) });
}
