/** Judges over HTTP: what there is, how far each agrees with people, and an admin's changes. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { JudgeIn, JudgeRow, RunOut } from "@/generated/api";
import { request } from "@/shared/api/http";

export const isRunning = (run: RunOut | null): run is RunOut => run?.status === "queued" || run?.status === "running";

/** The page; asked again every second while something is being judged. */
export const judgesQuery = queryOptions({
  queryKey: ["judges"],
  queryFn: () => request("GET", "/judges"),
  refetchInterval: (query) => (query.state.data?.rows.some(({ run }) => isRunning(run)) ? 1_000 : 30_000),
});

type Assignment = { readonly pool: number; readonly judge: number };

export const assignmentOf = ({ pool, judge }: JudgeRow): Assignment => ({ pool: pool.id, judge: judge.id });

const pathOf = ({ pool, judge }: Assignment) => `/pools/${pool}/judges/${judge}` as const;

export const sweepQuery = (assignment: Assignment) =>
  queryOptions({
    queryKey: ["judges", "sweep", assignment.pool, assignment.judge],
    queryFn: () => request("GET", `${pathOf(assignment)}/sweep`),
  });

export type Change =
  | { readonly type: "set"; readonly assignment: Assignment; readonly threshold: number }
  | { readonly type: "remove"; readonly assignment: Assignment }
  | { readonly type: "run"; readonly assignment: Assignment }
  | { readonly type: "try"; readonly assignment: Assignment }
  | { readonly type: "create"; readonly judge: JudgeIn }
  | { readonly type: "delete"; readonly judge: number }
  | { readonly type: "cancel"; readonly run: string };

/** How many episodes with a person's word a judge is tried on at a time. */
export const TRIAL_EPISODES = 20;

async function send(change: Change): Promise<unknown> {
  switch (change.type) {
    case "set":
      return request("POST", pathOf(change.assignment), { threshold: change.threshold });
    case "remove":
      return request("DELETE", pathOf(change.assignment));
    case "run":
      return request("POST", `${pathOf(change.assignment)}/runs`);
    case "try":
      return request("POST", `${pathOf(change.assignment)}/trials`, { labelled_only: true, most: TRIAL_EPISODES });
    case "create":
      return request("POST", "/judges", change.judge);
    case "delete":
      return request("DELETE", `/judges/${change.judge}`);
    case "cancel":
      return request("POST", `/judge-runs/${change.run}/cancel`);
  }
}

export function useChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: judgesQuery.queryKey }) });
}
