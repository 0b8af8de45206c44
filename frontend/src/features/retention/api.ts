/** Retention over HTTP: the rules, and an admin's changes. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { RuleIn } from "@/generated/api";
import { request } from "@/shared/api/http";

export const TARGETS = ["practice", "left", "unaccepted", "recordings", "exports", "audit"] as const;

export const retentionQuery = queryOptions({
  queryKey: ["retention"],
  queryFn: () => request("GET", "/retention"),
  refetchInterval: 30_000,
});

export type Change =
  | { readonly type: "make"; readonly rule: RuleIn }
  | { readonly type: "preview" | "on" | "off" | "delete"; readonly id: number };

async function send(change: Change): Promise<unknown> {
  switch (change.type) {
    case "make": {
      const made = await request("POST", "/retention/rules", change.rule);
      return request("POST", `/retention/rules/${made.id}/preview`);
    }
    case "preview":
      return request("POST", `/retention/rules/${change.id}/preview`);
    case "on":
      return request("POST", `/retention/rules/${change.id}/active`);
    case "off":
      return request("DELETE", `/retention/rules/${change.id}/active`);
    case "delete":
      return request("DELETE", `/retention/rules/${change.id}`);
  }
}

export function useChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: retentionQuery.queryKey }) });
}
