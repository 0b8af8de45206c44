/** A reviewer's decision over HTTP. */
import { queryOptions, useMutation, useQueryClient } from "@tanstack/react-query";

import type { EpisodePage, EpisodeSummary, ReviewIn } from "@/generated/api";
import { request } from "@/shared/api/http";

export const reviewQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "review"],
    queryFn: () => request<EpisodeSummary>("GET", `/episodes/${episodeId}/review`),
  });

export function useReview(episodeId: string) {
  const client = useQueryClient();
  return useMutation({
    mutationFn: (review: ReviewIn) => request<EpisodeSummary>("POST", `/episodes/${episodeId}/review`, review),
    onSuccess: (decided) => {
      client.setQueryData(reviewQuery(episodeId).queryKey, decided);
      return client.invalidateQueries({ queryKey: ["episodes"] });
    },
  });
}

/** The newest episode that waits for a review by this person; null when none does. Nobody reviews their own. */
export function useNextToReview(username: string) {
  return useMutation({
    mutationFn: async () => {
      const { items } = await request<EpisodePage>("GET", "/episodes?status=finished&review=pending");
      return items.find(({ annotator, practice }) => annotator !== username && !practice) ?? null;
    },
  });
}
