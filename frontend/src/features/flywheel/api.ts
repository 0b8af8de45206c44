/** The flywheel over HTTP: flywheels, a cycle, its samples, and lineage. The API still says wheel and turn. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { CheckpointRegistration, Recipe } from "@/generated/api";
import { request } from "@/shared/api/http";

export const STAGES = ["collect", "check", "value", "route", "mix", "train", "gate", "register", "refresh"] as const;
export const ROUTES = ["sft", "ct", "none"] as const;
export type RouteName = (typeof ROUTES)[number];

const ACTIVE_POLL_MS = 2_000;
const IDLE_POLL_MS = 30_000;

export const flywheelsQuery = queryOptions({
  queryKey: ["wheels"],
  queryFn: () => request("GET", "/wheels"),
  refetchInterval: (query) =>
    query.state.data?.some(({ turns: cycles }) => cycles.some(({ state }) => state === "running")) ? ACTIVE_POLL_MS : IDLE_POLL_MS,
});

export const cycleQuery = (id: string) =>
  queryOptions({
    queryKey: ["wheels", "turn", id],
    queryFn: () => request("GET", `/turns/${id}`),
    refetchInterval: (query) => (query.state.data?.row.state === "running" ? ACTIVE_POLL_MS : false),
  });

export const samplesQuery = (cycle: string, route: RouteName) =>
  infiniteQueryOptions({
    queryKey: ["wheels", "samples", cycle, route],
    queryFn: ({ pageParam }) => request("GET", `/turns/${cycle}/samples?route=${route}&after=${pageParam}`),
    initialPageParam: 0,
    getNextPageParam: ({ next }) => next,
  });

export const lineageQuery = (checkpoint: number) =>
  queryOptions({
    queryKey: ["wheels", "lineage", checkpoint],
    queryFn: () => request("GET", `/checkpoints/${checkpoint}/lineage`),
  });

export const trainingUsesQuery = (episode: string) =>
  queryOptions({
    queryKey: ["wheels", "taught", episode],
    queryFn: () => request("GET", `/trajectories/${episode}/lineage`),
  });

/** The pools a flywheel may learn from, with who proposes there. */
export const poolsQuery = queryOptions({
  queryKey: ["wheels", "pools"],
  queryFn: () => request("GET", "/policies/pools"),
});

/** All revisions; those that name a checkpoint can be trained. */
export const revisionsQuery = queryOptions({
  queryKey: ["wheels", "revisions"],
  queryFn: () => request("GET", "/policies"),
});

export const draftQuery = (pool: number) =>
  queryOptions({
    queryKey: ["wheels", "draft", pool],
    queryFn: () => request("GET", `/wheels/draft?pool=${pool}`),
    staleTime: 0,
  });

export type Change =
  | { readonly type: "make"; readonly pool: number; readonly name: string; readonly every_hours: number | null; readonly by_need: boolean; readonly recipe: Recipe }
  | { readonly type: "edit"; readonly flywheel: number; readonly every_hours: number | null; readonly recipe: Recipe }
  | { readonly type: "delete"; readonly flywheel: number }
  | { readonly type: "turn"; readonly flywheel: number }
  | { readonly type: "cancel"; readonly cycle: string }
  | { readonly type: "resume"; readonly cycle: string };

async function send(change: Change): Promise<unknown> {
  switch (change.type) {
    case "make": {
      const { pool, name, every_hours, by_need, recipe } = change;
      return request("POST", "/wheels", { pool, name, every_hours, by_need, recipe });
    }
    case "edit":
      return request("PATCH", `/wheels/${change.flywheel}`, { every_hours: change.every_hours, recipe: change.recipe });
    case "delete":
      return request("DELETE", `/wheels/${change.flywheel}`);
    case "turn":
      return request("POST", `/wheels/${change.flywheel}/turns`);
    case "cancel":
      return request("POST", `/turns/${change.cycle}/cancel`);
    case "resume":
      return request("POST", `/turns/${change.cycle}/resume`);
  }
}

export function useChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: flywheelsQuery.queryKey }) });
}

/** Registers a checkpoint of a cycle as an inactive revision. */
export function useCheckpointRegistration(cycle: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ checkpoint, ...body }: CheckpointRegistration & { checkpoint: number }) =>
      request("POST", `/checkpoints/${checkpoint}/register`, body),
    onSuccess: () => client.invalidateQueries({ queryKey: cycleQuery(cycle).queryKey }),
  });
}
