/** The replay of one episode, with its review for those who review or mend it and what it taught: features that meet only here. */
import { usePrefetchQuery, useQuery } from "@tanstack/react-query";
import { lazy, Suspense, useMemo } from "react";

import type { ReviewDetails } from "@/generated/api";
import type { EpisodeState, Trajectory } from "@/generated/vocabulary";
import { TrainingUses } from "@/features/flywheel/training-uses";
import { recordingQuery } from "@/features/replay/api";
import { Replay } from "@/features/replay/replay";
import { reviewDetailsQuery } from "@/features/review/api";
import { ReviewPanel } from "@/features/review/review-panel";
import { IndependentReview } from "@/features/review/independent-review";
import { SentBack } from "@/features/review/sent-back";
import { faultySteps, stepMarks } from "@/features/review/step-marks";
import { mayCorrect, useCorrections, type CorrectionEditor } from "@/features/review/use-corrections";
import { browserDraftStore } from "@/session/drafts";
import { useUser } from "@/shared/account/account";
import { snapshotQuery, trajectoryQuery } from "@/shared/api/episodes";
import { useI18n } from "@/shared/i18n/i18n";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

/** Loaded for recorded sessions only. */
const SpeechTimeline = lazy(() => import("@/features/speech/speech-timeline"));

export default function EpisodePage({ episodeId }: { episodeId: string }) {
  const snapshot = useQuery(snapshotQuery(episodeId));
  const trajectory = useQuery(trajectoryQuery(episodeId));
  const details = useQuery(reviewDetailsQuery(episodeId));
  usePrefetchQuery(recordingQuery(episodeId)); // the replay asks for it once the steps are there
  const failed = [snapshot, trajectory].find(({ isError }) => isError);

  if (failed) return <ErrorState error={failed.error} onRetry={() => void Promise.all([snapshot.refetch(), trajectory.refetch()])} />;
  // Where sent-back work opens depends on its review.
  if (!snapshot.data || !trajectory.data || (snapshot.data.state.status === "finished" && details.isPending)) return <Loading />;
  return <LoadedEpisode state={snapshot.data.state} trajectory={trajectory.data} details={details.data} />;
}

type LoadedProps = { state: EpisodeState; trajectory: Trajectory; details: ReviewDetails | undefined };

function LoadedEpisode({ state, trajectory, details }: LoadedProps) {
  const { t } = useI18n();
  const { id, steps } = trajectory;
  const userId = useUser().id;
  const drafts = useMemo(() => browserDraftStore(userId), [userId]);
  const marks = useMemo(() => details && stepMarks(details, steps.length), [details, steps.length]);
  const editor = useCorrections(drafts, id, steps, details?.fixes ?? []);
  return (
    <>
      <PagePath crumbs={[{ label: t("global.episodes"), to: "/episodes" }, { label: trajectory.task.instruction }]} />
      <Replay
        trajectory={trajectory}
        state={state}
        annotator={details?.episode.annotator_name}
        firstStep={details?.may === "mend" ? faultySteps(details)[0] : undefined}
        stepMarks={marks}
        corrections={correctionsOf(editor, details)}
        notice={(current, select) =>
          details && (
            <>
              <IndependentReview details={details} />
              <SentBack details={details} current={current} onSelect={select} />
            </>
          )
        }
        timeline={
          "recording" in trajectory.task.parameters
            ? (current, reach) => (
                <Suspense fallback={null}>
                  <SpeechTimeline episodeId={id} steps={steps} current={current} onReach={reach} />
                </Suspense>
              )
            : undefined
        }
        review={(current, advance) =>
          state.status === "finished" && (
            <>
              <TrainingUses episodeId={id} />
              <ReviewPanel episodeId={id} steps={steps} current={current} editor={editor} drafts={drafts} onAdvance={advance} />
            </>
          )
        }
      />
    </>
  );
}

/** What is written over the steps, for those who may correct them. */
function correctionsOf(editor: CorrectionEditor, details: ReviewDetails | undefined) {
  if (details === undefined || !mayCorrect(details)) return undefined;
  return { actionOf: (index: number) => editor.of(index)?.action ?? null, onMovePoint: editor.move };
}
