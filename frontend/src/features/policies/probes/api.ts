/** Probes of models over HTTP: asked again every second while one is under way. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { ProbeIn, ProbeOut } from "@/generated/api";
import { request } from "@/shared/api/http";

const KEY = "probes";

export type ProbeEndpoint = Omit<ProbeIn, "screens">;

export const isUnderWay = (probe: ProbeOut | undefined): boolean => probe?.status === "queued" || probe?.status === "running";

/** The newest probe of each model, without its points. */
export const probesQuery = queryOptions({
  queryKey: [KEY, "latest"],
  queryFn: () => request("GET", "/probes"),
  refetchInterval: (query) => (query.state.data?.some(isUnderWay) ? 1_000 : 30_000),
});

/** What the first replies of each proposing revision say of its coordinate space. */
export const firstRepliesQuery = queryOptions({
  queryKey: [KEY, "first-replies"],
  queryFn: () => request("GET", "/first-replies"),
  refetchInterval: 60_000,
});

/** One probe with its points. */
export const probeQuery = (id: string) =>
  queryOptions({
    queryKey: [KEY, id],
    queryFn: () => request("GET", `/probes/${id}`),
    refetchInterval: (query) => (isUnderWay(query.state.data) ? 1_000 : false),
  });

export type ProbeChange = { readonly type: "start"; readonly probe: ProbeIn } | { readonly type: "cancel"; readonly id: string };

async function send(change: ProbeChange): Promise<ProbeOut | null> {
  if (change.type === "start") return request("POST", "/probes", change.probe);
  await request("DELETE", `/probes/${change.id}`);
  return null;
}

export function useProbeChange() {
  const client = useQueryClient();
  return useMutation({
    mutationFn: send,
    onSettled: () => client.invalidateQueries({ queryKey: [KEY] }),
  });
}

export const sameModel = (probe: ProbeOut, endpoint: ProbeEndpoint): boolean =>
  sameServer(probe, endpoint) && probe.model === endpoint.model && probe.dialect === endpoint.dialect;

/** Without an address it is the provider's own. */
const sameServer = (probe: ProbeOut, { base_url: address, provider }: ProbeEndpoint): boolean =>
  address ? probe.base_url === address : probe.provider === provider;

/** The worst that a probe found; "ok" where nothing is wrong. */
export function severityOf(probe: ProbeOut): "ok" | "warn" | "danger" {
  const severities = (probe.report?.findings ?? []).map(({ severity }) => severity);
  if (probe.status === "failed" || severities.includes("error")) return "danger";
  return severities.includes("warning") ? "warn" : "ok";
}

export const screenPath = (name: string): string => `/api/probes/screens/${encodeURIComponent(name)}`;
