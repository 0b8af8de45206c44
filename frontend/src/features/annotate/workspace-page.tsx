/** The page of one episode: connects, and shows the workspace once the first snapshot is there. */
import { useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Empty, Loading } from "@/shared/ui/states";
import { useSession } from "@/session/use-session";

import { AnnotationWorkspace } from "@/features/annotate/workspace/workspace";

export default function WorkspacePage({ episodeId }: { episodeId: string }) {
  const { t } = useI18n();
  const live = useSession(episodeId, useUser().id);
  const { view, connection } = live;
  if (view !== null) return <AnnotationWorkspace key={episodeId} live={live} view={view} />;
  if (connection.phase === "forbidden" || connection.phase === "missing") return <Empty title={t(`notice.${connection.phase}`)} />;
  if (connection.phase === "signed_out") return <Empty title={t("notice.signed_out")} />;
  if (connection.phase === "offline") return <Empty title={t("notice.reconnecting")} />;
  return <Loading />;
}
