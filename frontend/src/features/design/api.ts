/** Task design over HTTP: the graph, the tasks of its cells, wordings, and an admin's changes. */
import { keepPreviousData, queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { Measures, Rubric, WriterIn } from "@/generated/api";
import { request } from "@/shared/api/http";

export const LEVELS = [1, 2, 3, 4, 5] as const;

/** A node and a level of it; without a level all of them, without a node what stands nowhere. */
export type CellSelection = { readonly node: number | null; readonly level: number | null };

export const designQuery = queryOptions({
  queryKey: ["design"],
  queryFn: () => request("GET", "/design"),
});

export const tasksQuery = ({ node, level }: CellSelection, after: number) => {
  const query = new URLSearchParams({ after: String(after) });
  if (node !== null) query.set("node", String(node));
  if (level !== null) query.set("level", String(level));
  return queryOptions({
    queryKey: ["design", "tasks", node, level, after],
    queryFn: () => request("GET", `/design/tasks?${query}`),
    placeholderData: keepPreviousData,
    refetchInterval: (query) =>
      query.state.data?.items.some(({ writing }) => writing?.status === "queued" || writing?.status === "running")
        ? 2_000
        : false,
  });
};

export type Change =
  | { readonly type: "make"; readonly parent: number | null; readonly name: string; readonly importance: number }
  | {
      readonly type: "change";
      readonly node: number;
      readonly name: string;
      readonly importance: number;
      /** With measures, the importance follows from them. */
      readonly measures: Measures | null;
      readonly measured_by: string;
    }
  | { readonly type: "delete"; readonly node: number }
  | { readonly type: "derive" }
  | { readonly type: "place"; readonly tasks: readonly number[]; readonly node: number | null; readonly rubric: Rubric | null }
  | { readonly type: "word"; readonly task: number; readonly writer: number; readonly count: number }
  | { readonly type: "writer"; readonly writer: WriterIn }
  | { readonly type: "delete_writer"; readonly writer: number }
  | { readonly type: "cancel"; readonly writing: string }
  | { readonly type: "accept"; readonly suggestion: number; readonly text: string }
  | { readonly type: "reject"; readonly suggestion: number };

async function send(change: Change): Promise<unknown> {
  switch (change.type) {
    case "make":
      return request("POST", "/design/nodes", { parent: change.parent, name: change.name, importance: change.importance });
    case "change":
      return request("PATCH", `/design/nodes/${change.node}`, {
        name: change.name,
        importance: change.importance,
        measures: change.measures,
        measured_by: change.measured_by,
      });
    case "delete":
      return request("DELETE", `/design/nodes/${change.node}`);
    case "derive":
      return request("POST", "/design/suites");
    case "place":
      return request("POST", "/design/placements", { tasks: change.tasks, node: change.node, rubric: change.rubric });
    case "word":
      return request("POST", `/tasks/${change.task}/wordings`, { writer: change.writer, count: change.count });
    case "writer":
      return request("POST", "/design/writers", change.writer);
    case "delete_writer":
      return request("DELETE", `/design/writers/${change.writer}`);
    case "cancel":
      return request("POST", `/wordings/${change.writing}/cancel`);
    case "accept":
      return request("POST", `/suggestions/${change.suggestion}/accept`, { text: change.text });
    case "reject":
      return request("POST", `/suggestions/${change.suggestion}/reject`);
  }
}

export function useChange() {
  const client = useQueryClient();
  return useMutation({ mutationFn: send, onSettled: () => client.invalidateQueries({ queryKey: designQuery.queryKey }) });
}
