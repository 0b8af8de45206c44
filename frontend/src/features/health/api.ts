/** The health of the platform over HTTP: every part, asked again while somebody looks. */
import { queryOptions } from "@tanstack/react-query";

import type { Check } from "@/generated/api";
import { request } from "@/shared/api/http";

const POLL_MS = 10_000;

export const healthQuery = queryOptions({
  queryKey: ["health"],
  queryFn: () => request("GET", "/health/parts"),
  refetchInterval: POLL_MS,
});

export type Kind = Check["kind"];

export const GROUPS = [
  { key: "processes", kinds: ["web", "worker", "trainer", "beat", "bridge", "gateway"] },
  { key: "storage", kinds: ["database", "redis", "queue", "disk", "backup"] },
  { key: "models", kinds: ["model"] },
  { key: "hosts", kinds: ["host", "image"] },
] as const satisfies readonly { key: string; kinds: readonly Kind[] }[];
