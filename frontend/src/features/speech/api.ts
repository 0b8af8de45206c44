/** The speech of a recorded session over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { JobOut, RefinementAcceptIn, SpeechOut, ThoughtEditIn, VariantDecision, VariantIn } from "@/generated/api";
import { request } from "@/shared/api/http";

/** What was said in a recorded session, and the thoughts as reviewers left them. */
export const speechQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "speech"],
    queryFn: () => request("GET", `/episodes/${episodeId}/speech`),
  });

const POLL_MS = 1_000;

/** Whether a model writes, or waits for a worker. */
export const isWriting = (job: Pick<JobOut, "status"> | null): boolean => job?.status === "queued" || job?.status === "running";

/** How the last refinement of a session stands. */
export const refinementQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "refinement"],
    queryFn: () => request("GET", `/episodes/${episodeId}/review/refinement`),
    refetchInterval: ({ state }) => (state.data && isWriting(state.data.job) ? POLL_MS : false),
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

/** The variants of a session's thoughts, and the last jobs that wrote some. */
export const variantsQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "variants"],
    queryFn: () => request("GET", `/episodes/${episodeId}/review/variants`),
    refetchInterval: ({ state }) => (state.data?.jobs.some(({ job }) => isWriting(job)) ? POLL_MS : false),
  });

export type VariantChange =
  | { readonly type: "start"; readonly start: VariantIn }
  | { readonly type: "cancel"; readonly job: string }
  | { readonly type: "decide"; readonly decisions: VariantDecision[] };

/** Has variants written, stops that, or decides on some. */
export function useVariants(episodeId: string) {
  const client = useQueryClient();
  return useMutation({
    scope: { id: `variants ${episodeId}` },
    mutationFn: async (change: VariantChange): Promise<void> => {
      const path = `/episodes/${episodeId}/review/variants` as const;
      if (change.type === "start") await request("POST", path, change.start);
      else if (change.type === "cancel") await request("POST", `/review-jobs/${change.job}/cancel`);
      else await request("POST", `${path}/decisions`, { decisions: change.decisions });
    },
    onSettled: () => client.invalidateQueries({ queryKey: variantsQuery(episodeId).queryKey }),
  });
}
