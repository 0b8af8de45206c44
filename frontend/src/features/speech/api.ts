/** The speech of a recorded session over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { SpeechOut, ThoughtEditIn } from "@/generated/api";
import { request } from "@/shared/api/http";

/** What was said in a recorded session, and the thoughts as reviewers left them. */
export const speechQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "speech"],
    queryFn: () => request("GET", `/episodes/${episodeId}/speech`),
  });

export type SpeechChange = ({ readonly type: "edit" } & ThoughtEditIn) | { readonly type: "redact"; readonly words: number[] };

function send(episodeId: string, change: SpeechChange): Promise<SpeechOut> {
  if (change.type === "redact") return request("POST", `/episodes/${episodeId}/review/redactions`, { words: change.words });
  const { type: _, ...edit } = change;
  return request("POST", `/episodes/${episodeId}/review/thoughts`, edit);
}

/** Changes thoughts one after the other; a refused change fetches what holds now. A redaction also changes the steps. */
export function useSpeechChange(episodeId: string) {
  const client = useQueryClient();
  const { queryKey } = speechQuery(episodeId);
  return useMutation({
    scope: { id: `speech ${episodeId}` },
    mutationFn: (change: SpeechChange) => send(episodeId, change),
    onSuccess: (speech, change) => {
      client.setQueryData(queryKey, speech);
      return change.type === "redact" ? client.invalidateQueries({ queryKey: ["episode", episodeId] }) : undefined;
    },
    onError: () => client.invalidateQueries({ queryKey }),
  });
}
