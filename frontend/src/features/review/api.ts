/** A reviewer's decision over HTTP. */
import { useMutation, useQueryClient } from "@tanstack/react-query";

import type { EpisodeSummary, ReviewIn } from "@/generated/api";
import { request } from "@/shared/api/http";

export function useReview(episodeId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (review: ReviewIn) => request<EpisodeSummary>("POST", `/episodes/${episodeId}/review`, review),
    onSuccess: () => client.invalidateQueries({ queryKey: ["episodes"] }),
  });
}
