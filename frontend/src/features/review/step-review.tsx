/** The step at hand: verdict by digit, a comment, what others said, its revisions. */
import { Button, Textarea } from "@mantine/core";
import { useRef, useState } from "react";

import type { ReviewDetails } from "@/generated/api";
import type { Step, StepVerdict } from "@/generated/vocabulary";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { ActionText } from "@/shared/ui/episode/action-text";
import { Badge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { useUndoable } from "@/shared/ui/undo";

import type { useChange } from "./api";
import { reviewCommands, verdictCommands, VERDICTS } from "./commands";
import { CorrectionDialog } from "./correction-dialog";
import styles from "./review.module.css";

/** What was said of a step and is not answered yet; a comment that follows a verdict at once must not take it back. */
function pendingRemark({ isPending, variables }: ReturnType<typeof useChange>, index: number) {
  return isPending && variables.type === "remark" && variables.index === index ? variables : undefined;
}

type Props = { details: ReviewDetails; step: Step; change: ReturnType<typeof useChange> };

export function StepReview({ details, step, change }: Props) {
  const { t } = useI18n();
  const remarks = details.remarks.filter(({ index }) => index === step.index);
  const mine = remarks.findLast((remark) => remark.mine && remark.round === details.round);
  const fixes = details.fixes.filter(({ index }) => index === step.index);
  const undoable = useUndoable();
  const [correcting, setCorrecting] = useState(false);
  const [draft, setDraft] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const currentRemark = pendingRemark(change, step.index) ?? mine;
  const comment = draft ?? currentRemark?.comment ?? "";
  const canReview = details.may === "review" && (details.claim === null || details.claim.mine);
  const canCorrect = canReview || details.may === "mend";
  const saveRemark = (verdict: StepVerdict | null, words = comment) =>
    change.mutate({ type: "remark", index: step.index, verdict, comment: words }, { onSuccess: () => setDraft(null) });
  const clearRemark = () =>
    undoable({
      act: () => change.mutateAsync({ type: "remark", index: step.index, verdict: null, comment: "" }).then(() => setDraft(null)),
      done: t("review.verdict_cleared", { number: step.index + 1 }),
      undo: () => change.mutateAsync({ type: "remark", index: step.index, verdict: currentRemark?.verdict ?? null, comment: currentRemark?.comment ?? "" }),
    });

  useCommands([
    ...VERDICTS.map((verdict) => ({ command: verdictCommands[verdict], enabled: canReview, run: () => saveRemark(verdict) })),
    { command: reviewCommands.clearVerdict, enabled: canReview && currentRemark !== undefined, run: clearRemark },
    { command: reviewCommands.comment, enabled: canReview, run: () => field.current?.focus() },
    { command: reviewCommands.correct, enabled: canCorrect, run: () => setCorrecting(true) },
  ]);

  return (
    <div className={styles.group}>
      <h3 className={styles.title}>{t("review.step", { number: step.index + 1 })}</h3>
      {canReview && (
        <>
          <div className={styles.verdicts} role="group" aria-label={t("review.verdict")}>
            {VERDICTS.map((verdict) => (
              <Button
                key={verdict}
                size="compact-sm"
                variant={currentRemark?.verdict === verdict ? "filled" : "default"}
                aria-pressed={currentRemark?.verdict === verdict}
                onClick={() => saveRemark(currentRemark?.verdict === verdict ? null : verdict)}
                rightSection={<CommandKey command={verdictCommands[verdict]} />}
              >
                {t(`verdict.${verdict}`)}
              </Button>
            ))}
          </div>
          <Textarea
            ref={field}
            aria-label={t("review.comment")}
            placeholder={t("review.comment")}
            autosize
            minRows={1}
            maxRows={6}
            maxLength={4_000}
            value={comment}
            onChange={(event) => setDraft(event.currentTarget.value)}
            onKeyDown={(event) => {
              if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) event.currentTarget.blur();
              if (event.key === "Escape") event.currentTarget.blur();
            }}
            onBlur={() => {
              if (draft !== null && draft !== (currentRemark?.comment ?? "")) saveRemark(currentRemark?.verdict ?? null, draft);
            }}
          />
        </>
      )}
      <ul className={styles.list}>
        {remarks
          .filter((remark) => remark !== mine || !canReview)
          .map((remark) => (
            <li key={`${remark.reviewer} ${remark.round}`} className={styles.item}>
              {remark.verdict && <StepVerdictBadge verdict={remark.verdict} />}{" "}
              {t("review.remark_by", { name: remark.reviewer, round: remark.round })}
              {remark.comment && <p>{remark.comment}</p>}
            </li>
          ))}
        {fixes.map((fix) => (
          <li key={`fix ${fix.revision}`} className={styles.item}>
            {t("review.corrected", { revision: fix.revision, name: fix.author })}
            {fix.thought && <p>{fix.thought}</p>}
            <ActionText action={fix.action} />
            {fix.reason && <p className={styles.note}>{fix.reason}</p>}
          </li>
        ))}
      </ul>
      {canCorrect && (
        <div className={styles.buttons}>
          <Button variant="default" size="compact-sm" onClick={() => setCorrecting(true)} rightSection={<CommandKey command={reviewCommands.correct} />}>
            {t("review.correct")}
          </Button>
        </div>
      )}
      {correcting && <CorrectionDialog step={step} last={fixes.at(-1)} change={change} onClose={() => setCorrecting(false)} />}
    </div>
  );
}

function StepVerdictBadge({ verdict }: { verdict: StepVerdict }) {
  const { t } = useI18n();
  return <Badge tone={verdict === "right" ? "ok" : verdict === "redundant" ? "warn" : "danger"}>{t(`verdict.${verdict}`)}</Badge>;
}
