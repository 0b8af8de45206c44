/** The speech of a recorded session over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { RefinementAcceptIn, RefinementOut, SpeechOut, ThoughtEditIn } from "@/generated/api";
import { request } from "@/shared/api/http";

/** What was said in a recorded session, and the thoughts as reviewers left them. */
export const speechQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "speech"],
    queryFn: () => request("GET", `/episodes/${episodeId}/speech`),
  });

const POLL_MS = 1_000;

/** Whether a refinement waits for a worker, or has one. */
export const isRefining = ({ job }: Pick<RefinementOut, "job">): boolean => job?.status === "queued" || job?.status === "running";

/** How the last refinement of a session stands. */
export const refinementQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "refinement"],
    queryFn: () => request("GET", `/episodes/${episodeId}/review/refinement`),
    refetchInterval: ({ state }) => (state.data && isRefining(state.data) ? POLL_MS : false),
  });

/** Starts a refinement by a model, or cancels the one that runs. */
export function useRefinement(episodeId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: async (wanted: { readonly policy: number } | { readonly cancel: string }): Promise<void> => {
      if ("cancel" in wanted) await request("POST", `/review-jobs/${wanted.cancel}/cancel`);
      else await request("POST", `/episodes/${episodeId}/review/refinement`, { policy: wanted.policy });
    },
    onSettled: () => client.invalidateQueries({ queryKey: refinementQuery(episodeId).queryKey }),
  });
}

export type SpeechChange = ({ readonly type: "edit" } & ThoughtEditIn) | { readonly type: "redact"; readonly words: number[] } | ({ readonly type: "accept" } & RefinementAcceptIn);

function send(episodeId: string, change: SpeechChange): Promise<SpeechOut> {
  if (change.type === "redact") return request("POST", `/episodes/${episodeId}/review/redactions`, { words: change.words });
  const { type, ...body } = change;
  if (type === "accept") return request("POST", `/episodes/${episodeId}/review/refinement/accepted`, body as RefinementAcceptIn);
  return request("POST", `/episodes/${episodeId}/review/thoughts`, body as ThoughtEditIn);
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
