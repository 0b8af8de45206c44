/** Files on their way in, one at a time: each is a step of its own. */
import { useMutation } from "@tanstack/react-query";
import { useState } from "react";

import { MAX_FILE } from "@/generated/vocabulary";
import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { stageUpload } from "./api";

/** `pathOf` says where a file of this name goes. */
export function useUpload(pathOf: (name: string) => string) {
  const i18n = useI18n();
  const { episode, perform } = useWorkspace();
  const [refused, setRefused] = useState("");
  const staging = useMutation({
    mutationFn: (file: File) => stageUpload(episode.id, file),
    onSuccess: (blob, file) => perform({ kind: "upload_file", path: pathOf(file.name), blob }),
  });
  const take = (files: readonly File[]) => {
    const [file] = files;
    if (file === undefined) return;
    if (files.length > 1) setRefused(i18n.t("files.upload.one"));
    else if (file.size > MAX_FILE) setRefused(i18n.t("files.upload.large", { most: i18n.bytes(MAX_FILE) }));
    else {
      setRefused("");
      staging.mutate(file);
    }
  };
  return { take, busy: staging.isPending, problem: refused || (staging.error === null ? "" : messageOf(staging.error, i18n.t).text) };
}
