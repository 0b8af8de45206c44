/** Pools over HTTP. */
import { infiniteQueryOptions, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { Board, CredentialIn, MachineChoices, PoolRow, PoolSettings, RevisionSummary, SuiteIn, TaskPage, UploadReport } from "@/generated/api";
import { request } from "@/shared/api/http";

const KEY = "pools-board";

export const boardQuery = queryOptions({
  queryKey: [KEY],
  queryFn: () => request<Board>("GET", "/pools/board"),
  refetchInterval: 10_000,
});

export const revisionsQuery = queryOptions({
  queryKey: [KEY, "revisions"],
  queryFn: () => request<RevisionSummary[]>("GET", "/policies"),
});

/** Machine images and suites that the bridge reports. */
export const choicesQuery = queryOptions({
  queryKey: ["pools-choices"],
  queryFn: () => request<MachineChoices>("GET", "/pools/choices"),
  staleTime: 10_000,
});

export const tasksQuery = (pool: number, search: string) =>
  infiniteQueryOptions({
    queryKey: [KEY, "tasks", pool, search],
    queryFn: ({ pageParam }) =>
      request<TaskPage>("GET", `/pools/${pool}/tasks?${new URLSearchParams({ search, after: pageParam })}`),
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
  | { readonly type: "credential"; readonly pool: number; readonly name: string; readonly set: CredentialIn | null };

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
      const path = `/pools/${change.pool}/credentials/${encodeURIComponent(change.name)}`;
      return change.set === null ? request("DELETE", path) : request("POST", path, change.set);
    }
  }
}

export function useChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: [KEY] }) });
}

export type Upload = { readonly file: File; readonly kind: string } | { readonly choice: Omit<SuiteIn, "preview"> };

/** Look at what is to be added to a pool, or add it. */
export function useUpload(pool: number) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ upload, preview }: { readonly upload: Upload; readonly preview: boolean }) => {
      if ("choice" in upload) return request<UploadReport>("POST", `/pools/${pool}/suite`, { ...upload.choice, preview });
      const form = new FormData();
      form.set("file", upload.file);
      form.set("kind", upload.kind);
      form.set("preview", String(preview));
      return request<UploadReport>("POST", `/pools/${pool}/tasks`, form);
    },
    onSuccess: ({ added }) => (added ? client.invalidateQueries({ queryKey: [KEY] }) : undefined),
  });
}
