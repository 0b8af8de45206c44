/** What several screens ask of episodes. */
import { queryOptions } from "@tanstack/react-query";

import { request } from "@/shared/api/http";

/** Where an episode's pictures are; the bytes never change. */
export const blobUrlOf = (episodeId: string) => (sha256: string) => `/api/episodes/${episodeId}/blobs/${sha256}`;

/** An episode's state without its steps, which the trajectory has. */
export const snapshotQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "snapshot"],
    queryFn: () => request("GET", `/episodes/${episodeId}?steps=false`),
  });

export const trajectoryQuery = (episodeId: string) =>
  queryOptions({
    queryKey: ["episode", episodeId, "trajectory"],
    queryFn: () => request("GET", `/episodes/${episodeId}/trajectory`),
  });
