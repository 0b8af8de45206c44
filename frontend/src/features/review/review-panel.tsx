/** The review beside a replay: who has it, the step at hand, what counts, what changed, other attempts. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { notifications } from "@mantine/notifications";

import type { ReviewDetails } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import type { DraftStore } from "@/session/drafts";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { ReviewBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";
import { ErrorState } from "@/shared/ui/states";

import { reviewDetailsQuery, useChange } from "./api";
import { Changes } from "./changes";
import { reviewCommands } from "./commands";
import { CorrectionForm } from "./correction-form";
import { DecisionBar } from "./decision-bar";
import { hasDecided } from "./independent-review";
import { RelatedAttempts } from "./related-attempts";
import { Segments } from "./segments";
import styles from "./review.module.css";
import { StepReview } from "./step-review";
import { mayCorrect, type CorrectionEditor } from "./use-corrections";
import { VerdictBar } from "./verdict-bar";

type Props = { episodeId: string; steps: readonly Step[]; current: number; editor: CorrectionEditor; drafts: DraftStore; onAdvance: () => void };

export function ReviewPanel({ episodeId, steps, current, editor, drafts, onAdvance }: Props) {
  const details = useQuery(reviewDetailsQuery(episodeId));
  if (details.isError) return <ErrorState error={details.error} onRetry={() => void details.refetch()} />;
  if (!details.data || (details.data.may === "look" && details.data.rounds.length === 0)) return null;
  return <ReviewSections details={details.data} step={steps[current]} count={steps.length} editor={editor} drafts={drafts} onAdvance={onAdvance} />;
}

type SectionsProps = { details: ReviewDetails; step: Step | undefined; count: number } & Pick<Props, "editor" | "drafts" | "onAdvance">;

function ReviewSections({ details, step, count, editor, drafts, onAdvance }: SectionsProps) {
  const { t } = useI18n();
  const change = useChange(details.episode.id);
  return (
    <>
      <section className={styles.panel} aria-label={t("review.title")}>
        <h2 className={styles.title}>
          {t("review.title")} <ReviewBadge review={details.episode.review} /> {t("review.round", { number: details.round })}
          {details.remarks.length > 0 && <span>{t("review.judged", { count: new Set(details.remarks.map(({ index }) => index)).size })}</span>}
        </h2>
        <ClaimNote details={details} onRelease={() => change.mutate({ type: "release" })} />
        <Rounds details={details} />
        {step && <StepReview details={details} step={step} />}
        <Changes details={details} />
        {(details.may === "review" || details.segments.length > 0) && <Segments details={details} step={step} count={count} change={change} />}
        <RelatedAttempts details={details} change={change} />
      </section>
      {(details.may !== "look" || hasDecided(details)) && <PinnedReview details={details} step={step} editor={editor} drafts={drafts} change={change} onAdvance={onAdvance} />}
    </>
  );
}

type PinnedProps = Omit<SectionsProps, "count"> & { change: ReturnType<typeof useChange> };

/** What a person does with the episode, always in sight: verdicts and the decision, or the correction being written. */
function PinnedReview({ details, step, editor, drafts, change, onAdvance }: PinnedProps) {
  const { t } = useI18n();
  const canWrite = details.may === "review" && (details.claim === null || details.claim.mine);
  const canCorrect = mayCorrect(details);
  const correct = () => step && editor.open(step.index);
  useCommands([{ command: reviewCommands.correct, enabled: canCorrect && step !== undefined, run: correct }]);
  const correction = step && editor.of(step.index);
  return (
    <div className={styles.pinned} role="region" aria-label={t("review.your_review")}>
      {canCorrect && correction ? (
        <CorrectionForm key={correction.index} correction={correction} editor={editor} change={change} />
      ) : (
        <>
          {step && canWrite && <VerdictBar key={step.index} details={details} drafts={drafts} step={step} change={change} onAdvance={onAdvance} onCorrect={correct} />}
          <Problem error={change.error} />
          {details.may === "mend" ? <Resubmit details={details} onCorrect={correct} /> : <DecisionBar details={details} drafts={drafts} />}
        </>
      )}
    </div>
  );
}

function ClaimNote({ details: { claim }, onRelease }: { details: ReviewDetails; onRelease: () => void }) {
  const { t, relative } = useI18n();
  if (claim === null) return null;
  if (claim.mine) {
    return (
      <Button variant="subtle" size="compact-sm" onClick={onRelease} style={{ alignSelf: "start" }}>
        {t("review.release")}
      </Button>
    );
  }
  return (
    <p className={styles.warn} role="status">
      {t("review.claimed", { name: claim.reviewer, when: relative(claim.until) })}
    </p>
  );
}

function Rounds({ details: { rounds } }: { details: ReviewDetails }) {
  const { t, moment } = useI18n();
  if (rounds.length === 0) return null;
  return (
    <ul className={styles.list} aria-label={t("review.earlier")}>
      {rounds.map(({ number, decision, reviewer, reason, decided_at }) => (
        <li key={number} className={styles.item}>
          {t(`review.decision.${decision}`, { name: reviewer })} · {moment(decided_at)}
          {reason && <p>{reason}</p>}
        </li>
      ))}
    </ul>
  );
}

/** For its annotator: what was sent back is mended here and handed in again. */
function Resubmit({ details, onCorrect }: { details: ReviewDetails; onCorrect: () => void }) {
  const { t } = useI18n();
  const change = useChange(details.episode.id);
  const navigate = useNavigate();
  const resubmit = () =>
    change.mutate(
      { type: "resubmit" },
      {
        onSuccess: () => {
          notifications.show({ message: t("review.resubmitted") });
          void navigate("/queue");
        },
      },
    );
  useCommands([{ command: reviewCommands.resubmit, enabled: !change.isPending, run: resubmit }]);
  return (
    <div className={styles.form}>
      <p className={styles.note}>{t("review.resubmit.how")}</p>
      <div className={styles.buttons}>
        <Button variant="default" onClick={onCorrect} rightSection={<CommandKey command={reviewCommands.correct} />}>
          {t("review.correct")}
        </Button>
        <Button onClick={resubmit} loading={change.isPending} rightSection={<CommandKey command={reviewCommands.resubmit} />}>
          {t("review.resubmit")}
        </Button>
      </div>
      <Problem error={change.error} />
    </div>
  );
}
