/** The replay of one episode, with its review for those who review or mend it and what it taught: features that meet only here. */
import { useQuery } from "@tanstack/react-query";

import { TrainingUses } from "@/features/flywheel/training-uses";
import { Replay } from "@/features/replay/replay";
import { ReviewPanel } from "@/features/review/review-panel";
import { snapshotQuery, trajectoryQuery } from "@/shared/api/episodes";
import { useI18n } from "@/shared/i18n/i18n";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

export default function EpisodePage({ episodeId }: { episodeId: string }) {
  const { t } = useI18n();
  const snapshot = useQuery(snapshotQuery(episodeId));
  const trajectory = useQuery(trajectoryQuery(episodeId));
  const failed = [snapshot, trajectory].find(({ isError }) => isError);

  if (failed) return <ErrorState error={failed.error} onRetry={() => void Promise.all([snapshot.refetch(), trajectory.refetch()])} />;
  if (!snapshot.data || !trajectory.data) return <Loading />;
  const { state } = snapshot.data;
  return (
    <>
      <PagePath crumbs={[{ label: t("global.episodes"), to: "/episodes" }, { label: trajectory.data.task.instruction }]} />
      <Replay
        trajectory={trajectory.data}
        state={state}
        review={(current) =>
          state.status === "finished" && (
            <>
              <ReviewPanel episodeId={episodeId} steps={trajectory.data.steps} current={current} />
              <TrainingUses episodeId={episodeId} />
            </>
          )
        }
      />
    </>
  );
}
