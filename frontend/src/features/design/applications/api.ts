/** Applications over HTTP: candidates, their readings, how they are scored, and what is decided. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { ApplicationOut, ReadingIn, ScoringRule } from "@/generated/api";
import { request } from "@/shared/api/http";

import { designQuery } from "@/features/design/api";

export const INDICATORS = ["coverage", "engagement", "penetration"] as const;
export type Indicator = (typeof INDICATORS)[number];
export type State = ApplicationOut["state"];

export const applicationsQuery = queryOptions({
  queryKey: [...designQuery.queryKey, "applications"],
  queryFn: () => request("GET", "/design/applications"),
});

export type Change =
  | { readonly type: "add"; readonly name: string }
  | { readonly type: "rename"; readonly application: number; readonly name: string }
  | { readonly type: "delete"; readonly application: number }
  | { readonly type: "read"; readonly application: number; readonly reading: ReadingIn }
  | { readonly type: "unread"; readonly reading: number }
  | { readonly type: "decide"; readonly application: number; readonly state: State; readonly reason: string }
  | { readonly type: "score"; readonly rule: ScoringRule };

async function send(change: Change): Promise<unknown> {
  switch (change.type) {
    case "add":
      return request("POST", "/design/applications", { name: change.name });
    case "rename":
      return request("PATCH", `/design/applications/${change.application}`, { name: change.name });
    case "delete":
      return request("DELETE", `/design/applications/${change.application}`);
    case "read":
      return request("POST", `/design/applications/${change.application}/readings`, change.reading);
    case "unread":
      return request("DELETE", `/design/readings/${change.reading}`);
    case "decide":
      return request("POST", `/design/applications/${change.application}/decision`, { state: change.state, reason: change.reason });
    case "score":
      return request("POST", "/design/scoring", change.rule);
  }
}

export function useApplicationChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: designQuery.queryKey }) });
}

export function sendReadings(file: File, preview: boolean) {
  const form = new FormData();
  form.set("file", file);
  form.set("preview", String(preview));
  return request("POST", "/design/applications/file", form);
}
