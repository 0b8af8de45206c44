/** The replay of one episode, with its review for those who review or mend it and what it taught: features that meet only here. */
import { useQuery } from "@tanstack/react-query";

import { TrainingUses } from "@/features/flywheel/training-uses";
import { Replay } from "@/features/replay/replay";
import { reviewDetailsQuery } from "@/features/review/api";
import { ReviewPanel } from "@/features/review/review-panel";
import { IndependentReview } from "@/features/review/independent-review";
import { SentBack } from "@/features/review/sent-back";
import { faultySteps, stepMarks } from "@/features/review/step-marks";
import { useCorrection } from "@/features/review/use-correction";
import { snapshotQuery, trajectoryQuery } from "@/shared/api/episodes";
import { useI18n } from "@/shared/i18n/i18n";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

export default function EpisodePage({ episodeId }: { episodeId: string }) {
  const { t } = useI18n();
  const snapshot = useQuery(snapshotQuery(episodeId));
  const trajectory = useQuery(trajectoryQuery(episodeId));
  const finished = snapshot.data?.state.status === "finished";
  const details = useQuery(reviewDetailsQuery(episodeId));
  const editor = useCorrection();
  const failed = [snapshot, trajectory].find(({ isError }) => isError);

  if (failed) return <ErrorState error={failed.error} onRetry={() => void Promise.all([snapshot.refetch(), trajectory.refetch()])} />;
  // Where sent-back work opens depends on its review.
  if (!snapshot.data || !trajectory.data || (finished && details.isPending)) return <Loading />;
  const { state } = snapshot.data;
  const { steps } = trajectory.data;
  return (
    <>
      <PagePath crumbs={[{ label: t("global.episodes"), to: "/episodes" }, { label: trajectory.data.task.instruction }]} />
      <Replay
        trajectory={trajectory.data}
        state={state}
        annotator={details.data?.episode.annotator_name}
        firstStep={details.data?.may === "mend" ? faultySteps(details.data)[0] : undefined}
        stepMarks={details.data && stepMarks(details.data, steps.length)}
        correction={editor.correction && { ...editor.correction, onMovePoint: editor.move }}
        notice={(current, select) =>
          details.data && (
            <>
              <IndependentReview details={details.data} />
              <SentBack details={details.data} current={current} onSelect={select} />
            </>
          )
        }
        review={(current, advance) =>
          finished && (
            <>
              <TrainingUses episodeId={episodeId} />
              <ReviewPanel episodeId={episodeId} steps={steps} current={current} editor={editor} onAdvance={advance} />
            </>
          )
        }
      />
    </>
  );
}
