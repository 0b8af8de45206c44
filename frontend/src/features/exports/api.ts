/** Exports over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { ExportIn, ExportOut, ExportPlan } from "@/generated/api";
import { byName } from "@/shared/natural-order";
import { request } from "@/shared/api/http";

const isRunning = ({ status }: ExportOut) => status === "queued" || status === "running";

/** The newest exports; asked again every second while one is being written. */
export const exportsQuery = queryOptions({
  queryKey: ["exports"],
  queryFn: () => request("GET", "/exports"),
  refetchInterval: (query) => (query.state.data?.some(isRunning) ? 1_000 : 30_000),
});

/** The platform's own format, undivided. */
export const PLAN: Omit<ExportPlan, "budget"> = {
  format: "canonical",
  dialect: "ui_tars_1_5",
  prompt: null,
  decisions: null,
  shares: { validation: 0, test: 0, salt: "" },
  bar_evaluated: null,
  leave_out_missing: false,
  variants: [],
};

export const formatsQuery = queryOptions({
  queryKey: ["export-formats"],
  queryFn: () => request("GET", "/export-formats"),
  staleTime: Infinity,
});

export const poolsQuery = queryOptions({
  queryKey: ["pools"],
  queryFn: async () => byName(await request("GET", "/pools")),
  staleTime: 60_000,
});

export function useStartExport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ plan, ...input }: Omit<ExportIn, "plan"> & { plan: typeof PLAN }) =>
      request("POST", "/exports", { ...input, plan: plan as ExportPlan }), // without a budget: the server has one
    onSuccess: () => client.invalidateQueries({ queryKey: exportsQuery.queryKey }),
  });
}

/** Stop an export, or take up one that ended before it was done. */
export function useChangeExport() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, change }: { id: string; change: "cancel" | "retry" }) => request("POST", `/exports/${id}/${change}`),
    onSettled: () => client.invalidateQueries({ queryKey: exportsQuery.queryKey }),
  });
}

/** Dataset versions: exports that were frozen under a name. */
export const versionsQuery = queryOptions({
  queryKey: ["datasets"],
  queryFn: () => request("GET", "/datasets"),
});

export function useFreeze() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ id, ...version }: { id: string; name: string; notes: string }) =>
      request("POST", `/exports/${id}/freeze`, version),
    onSettled: () => client.invalidateQueries({ queryKey: versionsQuery.queryKey }),
  });
}

/** Note which revision was trained from a version. */
export function useNoteTrained() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: ({ name, number, ...trained }: { name: string; number: number; policy: string; revision: string }) =>
      request("POST", `/datasets/${encodeURIComponent(name)}/${String(number)}/trained`, trained),
    onSettled: () => client.invalidateQueries({ queryKey: versionsQuery.queryKey }),
  });
}
