/** The review beside a replay: who has it, the step at hand, what counts, what changed, other attempts. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useNavigate } from "react-router";
import { notifications } from "@mantine/notifications";

import type { Sheet } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { ReviewBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";
import { ErrorState } from "@/shared/ui/states";

import { sheetQuery, useChange } from "./api";
import { Changes } from "./changes";
import { reviewCommands } from "./commands";
import { DecisionBar } from "./decision-bar";
import { Others } from "./related-attempts";
import { Parts } from "./segments";
import styles from "./review.module.css";
import { StepReview } from "./step-review";

type Props = { episodeId: string; steps: readonly Step[]; current: number };

export function ReviewPanel({ episodeId, steps, current }: Props) {
  const sheet = useQuery(sheetQuery(episodeId));
  if (sheet.isError) return <ErrorState error={sheet.error} onRetry={() => void sheet.refetch()} />;
  if (!sheet.data || (sheet.data.may === "look" && sheet.data.rounds.length === 0)) return null;
  return <Panel sheet={sheet.data} step={steps[current]} count={steps.length} />;
}

function Panel({ sheet, step, count }: { sheet: Sheet; step: Step | undefined; count: number }) {
  const { t } = useI18n();
  const change = useChange(sheet.episode.id);
  const reviews = sheet.may === "review";
  return (
    <>
      <section className={styles.panel} aria-label={t("review.title")}>
        <h2 className={styles.title}>
          {t("review.title")} <ReviewBadge review={sheet.episode.review} /> {t("review.round", { number: sheet.round })}
          {sheet.remarks.length > 0 && <span>{t("review.judged", { count: new Set(sheet.remarks.map(({ index }) => index)).size })}</span>}
        </h2>
        <ClaimNote sheet={sheet} onRelease={() => change.mutate({ do: "release" })} />
        <Rounds sheet={sheet} />
        {sheet.may === "mend" && <Resubmit sheet={sheet} />}
        {step && <StepReview key={step.index} sheet={sheet} step={step} change={change} />}
        <Problem error={change.error} />
        <Changes sheet={sheet} />
        {(reviews || sheet.segments.length > 0) && <Parts sheet={sheet} step={step} count={count} change={change} />}
        <Others sheet={sheet} change={change} />
      </section>
      {reviews && <DecisionBar sheet={sheet} />}
    </>
  );
}

function ClaimNote({ sheet: { claim }, onRelease }: { sheet: Sheet; onRelease: () => void }) {
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

function Rounds({ sheet: { rounds } }: { sheet: Sheet }) {
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
function Resubmit({ sheet }: { sheet: Sheet }) {
  const { t } = useI18n();
  const change = useChange(sheet.episode.id);
  const navigate = useNavigate();
  const resubmit = () =>
    change.mutate(
      { do: "resubmit" },
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
        <Button onClick={resubmit} loading={change.isPending} rightSection={<CommandKey command={reviewCommands.resubmit} />}>
          {t("review.resubmit")}
        </Button>
      </div>
      <Problem error={change.error} />
    </div>
  );
}
