/** Claims the next task of the same pool and goes there. */
import { useMutation } from "@tanstack/react-query";
import { useNavigate } from "react-router";

import { messageOf, request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

interface NextTask {
  readonly claimNext: () => void;
  readonly busy: boolean;
  /** Nothing waited when it was last asked. */
  readonly queueEmpty: boolean;
  readonly error: string;
}

export function useNextTask(episodeId: string): NextTask {
  const navigate = useNavigate();
  const { t } = useI18n();
  const claim = useMutation({
    mutationFn: () => request("POST", "/queue/next", { after: episodeId }),
    onSuccess: ({ episode_id: id }) => {
      if (id !== null) void navigate(`/desk/${id}`);
    },
  });
  return {
    claimNext: () => claim.mutate(),
    busy: claim.isPending,
    queueEmpty: claim.data?.episode_id === null,
    error: claim.error === null ? "" : messageOf(claim.error, t).text,
  };
}
