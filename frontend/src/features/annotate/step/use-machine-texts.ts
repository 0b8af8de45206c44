/** Window titles and on-screen words that the machine itself knows, for texts that are being written. */
import { useQuery } from "@tanstack/react-query";

import type { ScreenTexts } from "@/generated/api";
import type { EpisodeState } from "@/generated/vocabulary";
import { request } from "@/shared/api/http";

const NONE: ScreenTexts = { titles: [], words: [] };

/** Asked once a frame, and only while a text is being written in the command line. */
export function useMachineTexts({ id, observation }: Pick<EpisodeState, "id" | "observation">, command: string): ScreenTexts {
  const frame = observation?.screenshot?.sha256 ?? null;
  const { data } = useQuery({
    queryKey: ["episode", id, "texts", frame],
    queryFn: () => request("GET", `/episodes/${encodeURIComponent(id)}/texts`),
    enabled: frame !== null && /^\s*(?:type|write|set_clipboard)/.test(command),
    retry: false,
    staleTime: Infinity,
    gcTime: 60_000,
  });
  return data ?? NONE;
}
