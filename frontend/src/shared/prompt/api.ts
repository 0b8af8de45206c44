/** The prompt of a question: a blob of its episode, which never changes. */
import { queryOptions } from "@tanstack/react-query";

import type { Prompt } from "@/generated/vocabulary";
import { ApiError, request } from "@/shared/api/http";

import { isPrompt } from "./prompt";

export const promptQuery = (episodeId: string, sha256: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "prompt", sha256],
    queryFn: async (): Promise<Prompt> => {
      const value = await request("GET", `/episodes/${encodeURIComponent(episodeId)}/blobs/${sha256}`);
      if (!isPrompt(value)) throw new ApiError(200, "unknown_prompt", "This prompt was kept in a form that this page does not know.");
      return value;
    },
    staleTime: Infinity,
    retry: false,
  });
