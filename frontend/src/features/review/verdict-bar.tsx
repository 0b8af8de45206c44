/** The verdict on the step at hand and a comment, always in sight; a verdict goes on to the next step where that is wanted. */
import { Button, Switch, Textarea } from "@mantine/core";
import { useLocalStorage } from "@mantine/hooks";
import { useRef } from "react";

import type { ReviewDetails } from "@/generated/api";
import type { Step, StepVerdict } from "@/generated/vocabulary";
import type { DraftStore } from "@/session/drafts";
import { useTexts } from "@/session/use-texts";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { CommandKey, KeyHint } from "@/shared/ui/key-hint";
import { useUndoable } from "@/shared/ui/undo";

import type { useChange } from "./api";
import { reviewCommands, verdictCommands, VERDICTS } from "./commands";
import styles from "./review.module.css";

/** What was said of a step and is not answered yet; a comment that follows a verdict at once must not take it back. */
function pendingRemark({ isPending, variables }: ReturnType<typeof useChange>, index: number) {
  return isPending && variables.type === "remark" && variables.index === index ? variables : undefined;
}

type Props = { details: ReviewDetails; drafts: DraftStore; step: Step; change: ReturnType<typeof useChange>; onAdvance: () => void; onCorrect: () => void };

export function VerdictBar({ details, drafts, step, change, onAdvance, onCorrect }: Props) {
  const { t } = useI18n();
  const undoable = useUndoable();
  const [advances, setAdvances] = useLocalStorage({ key: "pilothouse.review.advance", defaultValue: true });
  const field = useRef<HTMLTextAreaElement>(null);
  const mine = details.remarks.findLast((remark) => remark.index === step.index && remark.mine && remark.round === details.round);
  const currentRemark = pendingRemark(change, step.index) ?? mine;
  const written = useTexts(drafts, details.episode.id, `remark.${details.round}.${step.index}`, { comment: currentRemark?.comment ?? "" });
  const { comment } = written.texts;
  // A comment that is saved right after a verdict, before anything is drawn again, keeps it.
  const given = useRef<StepVerdict | null | undefined>(undefined);
  const forget = () => (given.current = undefined);
  const saveRemark = (verdict: StepVerdict | null, words = comment) => {
    given.current = verdict;
    // Each is answered for itself, also where the next step is looked at meanwhile; `change` shows an error.
    change.mutateAsync({ type: "remark", index: step.index, verdict, comment: words }).then(() => written.clearSent({ comment: words }), forget);
  };
  const judge = (verdict: StepVerdict) => {
    saveRemark(verdict);
    if (advances) onAdvance();
  };
  const saveComment = () => {
    if (written.changed) saveRemark(given.current === undefined ? (currentRemark?.verdict ?? null) : given.current);
  };
  const clearRemark = () => {
    forget();
    undoable({
      act: () => change.mutateAsync({ type: "remark", index: step.index, verdict: null, comment: "" }).then(written.clear),
      done: t("review.verdict_cleared", { number: step.index + 1 }),
      undo: () => change.mutateAsync({ type: "remark", index: step.index, verdict: currentRemark?.verdict ?? null, comment: currentRemark?.comment ?? "" }),
    });
  };

  useCommands([
    ...VERDICTS.map((verdict) => ({ command: verdictCommands[verdict], run: () => judge(verdict) })),
    { command: reviewCommands.clearVerdict, enabled: currentRemark !== undefined, run: clearRemark },
    { command: reviewCommands.comment, run: () => field.current?.focus() },
  ]);

  return (
    <div className={styles.group}>
      <h3 className={styles.title}>
        {t("review.step", { number: step.index + 1 })}
        <Switch
          className={styles.aside}
          size="xs"
          label={t("review.advance")}
          checked={advances}
          onChange={(event) => setAdvances(event.currentTarget.checked)}
        />
      </h3>
      <div className={styles.verdicts} role="group" aria-label={t("review.verdict")}>
        {VERDICTS.map((verdict) => (
          <Button
            key={verdict}
            size="compact-sm"
            variant={currentRemark?.verdict === verdict ? "filled" : "default"}
            aria-pressed={currentRemark?.verdict === verdict}
            onClick={() => (currentRemark?.verdict === verdict ? saveRemark(null) : judge(verdict))}
            rightSection={<CommandKey command={verdictCommands[verdict]} />}
          >
            {t(`verdict.${verdict}`)}
          </Button>
        ))}
        <Button size="compact-sm" variant="default" onClick={onCorrect} rightSection={<CommandKey command={reviewCommands.correct} />}>
          {t("review.correct")}
        </Button>
      </div>
      <Textarea
        ref={field}
        aria-label={t("review.comment")}
        placeholder={t("review.comment")}
        autosize
        minRows={1}
        maxRows={4}
        maxLength={4_000}
        value={comment}
        rightSection={!written.changed ? <CommandKey command={reviewCommands.comment} /> : <KeyHint keys="Mod+Enter" />}
        rightSectionWidth={!written.changed ? 34 : 84}
        onChange={(event) => written.change({ comment: event.currentTarget.value })}
        onKeyDown={(event) => {
          if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
            event.preventDefault();
            event.currentTarget.blur();
          }
          if (event.key === "Escape") event.currentTarget.blur();
        }}
        onBlur={saveComment}
      />
    </div>
  );
}
