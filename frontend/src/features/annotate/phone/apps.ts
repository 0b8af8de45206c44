/** The apps a phone has, by name, and those that match what was typed. */
import { useQuery } from "@tanstack/react-query";

import type { EpisodeState } from "@/generated/vocabulary";
import { request } from "@/shared/api/http";

const NONE: readonly string[] = [];

/** The names; none for a machine without apps, or while it does not say. */
export function useApps({ id, capabilities }: Pick<EpisodeState, "id" | "capabilities">): readonly string[] {
  const { data } = useQuery({
    queryKey: ["episode", id, "apps"],
    queryFn: () => request("GET", `/episodes/${encodeURIComponent(id)}/apps`),
    enabled: capabilities.includes("open_app"),
    retry: false,
    staleTime: Infinity,
  });
  return data ?? NONE;
}

/** Those with a word that begins with what was typed, in their order; all of them where nothing was. */
export function appsMatching(apps: readonly string[], typed: string): string[] {
  const wanted = typed.trim().toLowerCase();
  return apps.filter((name) => name.toLowerCase().startsWith(wanted) || name.toLowerCase().split(/\s+/).some((word) => word.startsWith(wanted)));
}
