/** What the replay asks for beside the trajectory. */
import { queryOptions } from "@tanstack/react-query";

import type { RecordingOut } from "@/generated/api";
import { request } from "@/shared/api/http";

const AGAIN_MS = 5_000;

/** An episode's video; asked again while more of it is still to be stored. */
export const recordingQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "recording"],
    queryFn: () => request<RecordingOut>("GET", `/episodes/${episodeId}/recording`),
    refetchInterval: ({ state }) => (state.data?.pending ? AGAIN_MS : false),
  });
