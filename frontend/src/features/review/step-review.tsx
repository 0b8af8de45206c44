/** The step at hand: verdict by digit, a comment, what others said, its revisions. */
import { Button, Textarea } from "@mantine/core";
import { useRef, useState } from "react";

import type { Sheet } from "@/generated/api";
import type { Step, StepVerdict } from "@/generated/vocabulary";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { ActionText } from "@/shared/ui/episode/action-text";
import { Badge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { useUndoable } from "@/shared/ui/undo";

import type { useChange } from "./api";
import { reviewCommands, verdictCommands, VERDICTS } from "./commands";
import { MendDialog } from "./correction-dialog";
import styles from "./review.module.css";

/** What was said of a step and is not answered yet; a comment that follows a verdict at once must not take it back. */
function onItsWay({ isPending, variables }: ReturnType<typeof useChange>, index: number) {
  return isPending && variables.do === "remark" && variables.index === index ? variables : undefined;
}

type Props = { sheet: Sheet; step: Step; change: ReturnType<typeof useChange> };

export function StepReview({ sheet, step, change }: Props) {
  const { t } = useI18n();
  const remarks = sheet.remarks.filter(({ index }) => index === step.index);
  const mine = remarks.findLast((remark) => remark.mine && remark.round === sheet.round);
  const fixes = sheet.fixes.filter(({ index }) => index === step.index);
  const undoable = useUndoable();
  const [mending, setMending] = useState(false);
  const [draft, setDraft] = useState<string | null>(null);
  const field = useRef<HTMLTextAreaElement>(null);
  const said = onItsWay(change, step.index) ?? mine;
  const comment = draft ?? said?.comment ?? "";
  const reviews = sheet.may === "review" && (sheet.claim === null || sheet.claim.mine);
  const mends = reviews || sheet.may === "mend";
  const say = (verdict: StepVerdict | null, words = comment) =>
    change.mutate({ do: "remark", index: step.index, verdict, comment: words }, { onSuccess: () => setDraft(null) });
  const unsay = () =>
    undoable({
      act: () => change.mutateAsync({ do: "remark", index: step.index, verdict: null, comment: "" }).then(() => setDraft(null)),
      done: t("review.unsaid", { number: step.index + 1 }),
      undo: () => change.mutateAsync({ do: "remark", index: step.index, verdict: said?.verdict ?? null, comment: said?.comment ?? "" }),
    });

  useCommands([
    ...VERDICTS.map((verdict) => ({ command: verdictCommands[verdict], enabled: reviews, run: () => say(verdict) })),
    { command: reviewCommands.unsay, enabled: reviews && said !== undefined, run: unsay },
    { command: reviewCommands.comment, enabled: reviews, run: () => field.current?.focus() },
    { command: reviewCommands.mend, enabled: mends, run: () => setMending(true) },
  ]);

  return (
    <div className={styles.group}>
      <h3 className={styles.title}>{t("review.step", { number: step.index + 1 })}</h3>
      {reviews && (
        <>
          <div className={styles.verdicts} role="group" aria-label={t("review.verdict")}>
            {VERDICTS.map((verdict) => (
              <Button
                key={verdict}
                size="compact-sm"
                variant={said?.verdict === verdict ? "filled" : "default"}
                aria-pressed={said?.verdict === verdict}
                onClick={() => say(said?.verdict === verdict ? null : verdict)}
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
              if (draft !== null && draft !== (said?.comment ?? "")) say(said?.verdict ?? null, draft);
            }}
          />
        </>
      )}
      <ul className={styles.list}>
        {remarks
          .filter((remark) => remark !== mine || !reviews)
          .map((remark) => (
            <li key={`${remark.reviewer} ${remark.round}`} className={styles.item}>
              {remark.verdict && <VerdictOfStep verdict={remark.verdict} />}{" "}
              {t("review.said", { name: remark.reviewer, round: remark.round })}
              {remark.comment && <p>{remark.comment}</p>}
            </li>
          ))}
        {fixes.map((fix) => (
          <li key={`fix ${fix.revision}`} className={styles.item}>
            {t("review.mended", { revision: fix.revision, name: fix.author })}
            {fix.thought && <p>{fix.thought}</p>}
            <ActionText action={fix.action} />
            {fix.reason && <p className={styles.note}>{fix.reason}</p>}
          </li>
        ))}
      </ul>
      {mends && (
        <div className={styles.buttons}>
          <Button variant="default" size="compact-sm" onClick={() => setMending(true)} rightSection={<CommandKey command={reviewCommands.mend} />}>
            {t("review.mend")}
          </Button>
        </div>
      )}
      {mending && <MendDialog step={step} last={fixes.at(-1)} change={change} onClose={() => setMending(false)} />}
    </div>
  );
}

export function VerdictOfStep({ verdict }: { verdict: StepVerdict }) {
  const { t } = useI18n();
  return <Badge tone={verdict === "right" ? "ok" : verdict === "redundant" ? "warn" : "danger"}>{t(`verdict.${verdict}`)}</Badge>;
}
