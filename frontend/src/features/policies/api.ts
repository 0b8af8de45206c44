/** The registry of policies over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { Gate, PoolPolicies, RevisionChange, RevisionRegistration, RevisionSummary } from "@/generated/api";
import { request } from "@/shared/api/http";
import type { Translate } from "@/shared/i18n/i18n";

const KEY = "policies";

export const revisionsQuery = queryOptions({
  queryKey: [KEY, "revisions"],
  queryFn: () => request("GET", "/policies"),
  refetchInterval: 10_000,
});

export const poolsQuery = queryOptions({
  queryKey: [KEY, "pools"],
  queryFn: () => request("GET", "/policies/pools"),
  refetchInterval: 10_000,
});

/** The prompt that a dialect has of its own; it changes with a release only. */
export const promptQuery = (dialect: string) =>
  queryOptions({
    queryKey: [KEY, "prompt", dialect],
    queryFn: () => request("GET", `/policies/prompts/${dialect}`),
    staleTime: Infinity,
  });

/** An example of each dialect; they change with a release only. */
export const dialectsQuery = queryOptions({
  queryKey: [KEY, "dialects"],
  queryFn: () => request("GET", "/policies/dialects"),
  staleTime: Infinity,
});

export const statesQuery = (pool: number) =>
  queryOptions({
    queryKey: [KEY, "states", pool],
    queryFn: () => request("GET", `/pools/${pool}/states`),
  });

/** Whether a revision's server answers, asked when somebody chooses it. */
export const serverQuery = (revision: number) =>
  queryOptions({
    queryKey: [KEY, "server", revision],
    queryFn: () => request("GET", `/health/models/${revision}`),
    staleTime: 10_000,
    retry: false,
  });

export type Change =
  | { readonly type: "activate"; readonly pool: number; readonly revision: number | null }
  | { readonly type: "try"; readonly pool: number; readonly revision: number | null; readonly share: number }
  | { readonly type: "gate"; readonly pool: number; readonly gate: Gate | null }
  | { readonly type: "sampling"; readonly pool: number; readonly sampling: PoolPolicies["sampling"] }
  | { readonly type: "register"; readonly revision: RevisionRegistration }
  | { readonly type: "edit"; readonly revision: number; readonly changed: RevisionChange }
  | { readonly type: "reopen"; readonly task: number }
  | { readonly type: "begin"; readonly episode: string; readonly step: number };

function send(change: Change): Promise<unknown> {
  switch (change.type) {
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
    case "edit":
      return request("PATCH", `/policies/${change.revision}`, change.changed);
    case "reopen":
      return request("POST", `/tasks/${change.task}/reopen`);
    case "begin":
      return request("POST", `/episodes/${change.episode}/branch`, { step: change.step });
  }
}

export function useChange() {
  const client = useQueryClient();
  // Health and home show the model servers of active policies.
  const keys = [[KEY], ["health"], ["home"]];
  return useMutation({ mutationFn: send, onSettled: () => Promise.all(keys.map((queryKey) => client.invalidateQueries({ queryKey }))) });
}

export const nameOf = ({ policy }: RevisionSummary): string => `${policy.name} ${policy.revision}`;

/** Stands for the address of the scripts that machines bring along. */
const SCRIPTS_ADDRESS = "http://machine.invalid/expert";

/** Where a revision is served. */
export const addressOf = ({ base_url: address }: RevisionSummary, t: Translate): string =>
  address === SCRIPTS_ADDRESS ? t("policies.endpoint.scripts") : address;

/** The revision of this number; null where nobody is meant. */
export const revisionOf = (revisions: readonly RevisionSummary[], id: number | null): RevisionSummary | null =>
  revisions.find((revision) => revision.id === id) ?? null;
