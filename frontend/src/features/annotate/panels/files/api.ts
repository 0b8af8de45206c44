/** What the file panel asks of the web app: the folder looked at, and a place for bytes on their way in. */
import { queryOptions } from "@tanstack/react-query";

import type { BlobRef } from "@/generated/vocabulary";
import { request } from "@/shared/api/http";

/** A folder as it is at this version of the episode: an act, done or taken back, may change it. */
export const folderQuery = (episodeId: string, path: string, version: number) =>
  queryOptions({
    queryKey: ["episode", episodeId, "files", path, version],
    queryFn: () => request("GET", `/episodes/${encodeURIComponent(episodeId)}/files?${new URLSearchParams({ path })}`),
    placeholderData: (before) => (before?.path === path ? before : undefined),
    retry: false,
  });

/** Brings a file's bytes to the machine, where an `upload_file` step can put them in their place. */
export function stageUpload(episodeId: string, file: File): Promise<BlobRef> {
  const form = new FormData();
  form.append("file", file);
  return request("POST", `/episodes/${encodeURIComponent(episodeId)}/uploads`, form);
}
