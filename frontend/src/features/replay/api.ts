/** What the replay asks for beside the trajectory. */
import { queryOptions } from "@tanstack/react-query";

import { request } from "@/shared/api/http";

const POLL_MS = 5_000;

/** An episode's video; asked again while more of it is still to be stored. */
export const recordingQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "recording"],
    queryFn: () => request("GET", `/episodes/${episodeId}/recording`),
    refetchInterval: ({ state }) => (state.data?.pending ? POLL_MS : false),
  });

/** What supervisors told the annotator, with their names. */
export const supervisorNotesQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "notes"],
    queryFn: () => request("GET", `/episodes/${encodeURIComponent(episodeId)}/notes`),
  });

/** What programs sent to an episode's browser, from the message with this number. */
export const programsQuery = (episodeId: string, after: number) =>
  queryOptions({
    queryKey: ["episode", episodeId, "programs", after],
    queryFn: () => request("GET", `/episodes/${episodeId}/programs?after=${after}`),
  });
