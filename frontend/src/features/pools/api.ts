/** Pools over HTTP. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";
import { useEffect, useRef } from "react";

import type { CredentialIn, DeletedOut, McpServerIn, PoolRow, PoolSettings, ServerTrial, SuiteIn, Task, TaskChanges } from "@/generated/api";
import { request, requestWithHeaders } from "@/shared/api/http";

const KEY = "pools-board";

export const boardQuery = queryOptions({
  queryKey: [KEY],
  queryFn: () => request("GET", "/pools/board"),
  refetchInterval: 10_000,
});

export const revisionsQuery = queryOptions({
  queryKey: [KEY, "revisions"],
  queryFn: () => request("GET", "/policies"),
});

/** Machine images and suites that the bridge reports. */
export const choicesQuery = queryOptions({
  queryKey: ["pools-choices"],
  queryFn: () => request("GET", "/pools/choices"),
  staleTime: 10_000,
});

export const tasksQuery = (pool: number, search: string, state = "") =>
  infiniteQueryOptions({
    queryKey: [KEY, "tasks", pool, search, state],
    queryFn: ({ pageParam }) =>
      request("GET", `/pools/${pool}/tasks?${new URLSearchParams({ search, state, after: pageParam })}`),
    initialPageParam: "",
    getNextPageParam: (page) => page.after,
  });

export type Settings = Required<PoolSettings>;
export type PoolVersion = Pick<PoolRow, "id" | "version">;

export type Change =
  | { readonly type: "create"; readonly settings: Settings; readonly policy: number | null }
  | { readonly type: "change"; readonly pools: readonly PoolVersion[]; readonly changes: Partial<Settings> }
  | { readonly type: "stop"; readonly pool: number; readonly reason: string }
  | { readonly type: "start"; readonly pool: number }
  | { readonly type: "assign"; readonly pool: number; readonly kind: "people" | "groups"; readonly id: number; readonly works: boolean }
  | { readonly type: "credential"; readonly pool: number; readonly name: string; readonly set: CredentialIn | null }
  | { readonly type: "mcp_server"; readonly pool: number; readonly name: string; readonly set: McpServerIn["server"] | null };

const serverPath = (pool: number, name: string) => `/pools/${pool}/mcp-servers/${encodeURIComponent(name)}` as const;

function send(change: Change): Promise<unknown> {
  switch (change.type) {
    case "create":
      return request("POST", "/pools", { settings: change.settings, policy: change.policy });
    case "change":
      return request("PATCH", "/pools", {
        pools: change.pools.map(({ id, version }) => ({ id, version })),
        changes: change.changes,
      });
    case "stop":
      return request("POST", `/pools/${change.pool}/stop`, { reason: change.reason });
    case "start":
      return request("DELETE", `/pools/${change.pool}/stop`);
    case "assign":
      return request(change.works ? "POST" : "DELETE", `/pools/${change.pool}/${change.kind}/${change.id}`);
    case "credential": {
      const path = `/pools/${change.pool}/credentials/${encodeURIComponent(change.name)}` as const;
      return change.set === null ? request("DELETE", path) : request("POST", path, change.set);
    }
    case "mcp_server": {
      const path = serverPath(change.pool, change.name);
      return change.set === null ? request("DELETE", path) : request("POST", path, { server: change.set });
    }
  }
}

export function useChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: [KEY] }) });
}

/** Tries an MCP server on a free machine of the pool. `cancel`, and closing the form, ends the request. */
export function useServerTrial(pool: number) {
  const waiting = useRef<AbortController | null>(null);
  const trial = useMutation({
    mutationFn: async ({ name, server }: { readonly name: string; readonly server: McpServerIn["server"] }) => {
      waiting.current = new AbortController();
      const json = { "Content-Type": "application/json" };
      const path = `${serverPath(pool, name)}/trial`;
      const response = await requestWithHeaders("POST", path, json, JSON.stringify({ server }), waiting.current.signal);
      return (await response.json()) as ServerTrial;
    },
  });
  useEffect(() => () => waiting.current?.abort(), []);
  const cancel = () => {
    waiting.current?.abort();
    trial.reset();
  };
  return { ...trial, cancel };
}

export type Upload = { readonly file: File; readonly kind: string } | { readonly choice: Omit<SuiteIn, "preview"> };

/** Look at what is to be added to a pool, or add it. */
export function useUpload(pool: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ upload, preview }: { readonly upload: Upload; readonly preview: boolean }) => {
      if ("choice" in upload) return request("POST", `/pools/${pool}/suite`, { ...upload.choice, preview });
      const form = new FormData();
      form.set("file", upload.file);
      form.set("kind", upload.kind);
      form.set("preview", String(preview));
      return request("POST", `/pools/${pool}/tasks`, form);
    },
    onSuccess: ({ added }) => (added ? client.invalidateQueries({ queryKey: [KEY] }) : undefined),
  });
}

/** The finished episodes of a task, from which its reference is chosen. */
export const referencesQuery = (task: number) =>
  queryOptions({ queryKey: [KEY, "references", task], queryFn: () => request("GET", `/tasks/${task}/references`) });

export type TaskChange =
  | { readonly type: "withdraw"; readonly tasks: readonly number[]; readonly withdrawn: boolean }
  | { readonly type: "gold"; readonly tasks: readonly number[]; readonly wanted: boolean }
  | { readonly type: "delete"; readonly tasks: readonly number[] }
  | { readonly type: "add"; readonly definitions: readonly Task[] }
  | { readonly type: "edit"; readonly task: number; readonly changes: TaskChanges }
  | { readonly type: "reference"; readonly task: number; readonly episode: string | null };

function sendTasks(pool: number, change: TaskChange): Promise<DeletedOut | object | null> {
  switch (change.type) {
    case "withdraw":
      return request("POST", `/pools/${pool}/tasks/withdrawal`, { tasks: change.tasks, withdrawn: change.withdrawn });
    case "gold":
      return request("POST", `/pools/${pool}/tasks/gold`, { tasks: change.tasks, wanted: change.wanted });
    case "delete":
      return request("POST", `/pools/${pool}/tasks/deletion`, { tasks: change.tasks });
    case "add": {
      const form = new FormData();
      form.set("file", new Blob([change.definitions.map((task) => JSON.stringify(task)).join("\n")]), "tasks.jsonl");
      form.set("kind", "jsonl");
      return request("POST", `/pools/${pool}/tasks`, form);
    }
    case "edit":
      return request("PATCH", `/tasks/${change.task}`, change.changes);
    case "reference":
      return request("POST", `/tasks/${change.task}/gold`, { episode: change.episode });
  }
}

/** Change tasks of a pool. */
export function useTaskChange(pool: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (change: TaskChange) => sendTasks(pool, change),
    onSettled: () => client.invalidateQueries({ queryKey: [KEY] }),
  });
}
