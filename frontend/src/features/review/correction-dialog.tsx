/** A better thought and action for a step, written as in the workspace; the executed one is kept. */
import { Button, Textarea, TextInput } from "@mantine/core";
import { useState } from "react";

import type { FixOut } from "@/generated/api";
import type { Action, Step } from "@/generated/vocabulary";
import { parseAction } from "@/shared/actions/parse";
import { printAction } from "@/shared/actions/print";
import { useI18n } from "@/shared/i18n/i18n";
import { ActionText } from "@/shared/ui/episode/action-text";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import type { useChange } from "./api";
import styles from "./review.module.css";

type Props = { step: Step; last: FixOut | undefined; change: ReturnType<typeof useChange>; onClose: () => void };

export function CorrectionDialog({ step, last, change, onClose }: Props) {
  const { t } = useI18n();
  const from = last ?? step;
  const written = printAction(from.action);
  const [thought, setThought] = useState(from.thought);
  const [line, setLine] = useState(written);
  const [reason, setReason] = useState("");
  const action = parseCorrection(line, written, from.action);
  const same = thought === from.thought && line === written;
  const save = () => {
    if (action === null || same) return;
    change.mutate({ type: "mend", index: step.index, base: last?.revision ?? 0, thought, action, reason: reason.trim() }, { onSuccess: onClose });
  };
  return (
    <Dialog opened onClose={onClose} title={t("review.correct.title", { number: step.index + 1 })} size="lg">
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          save();
        }}
      >
        <p className={styles.note}>{t("review.correct.executed")}</p>
        <ActionText action={step.action} />
        <Textarea
          label={t("review.correct.thought")}
          data-autofocus
          autosize
          minRows={2}
          maxRows={8}
          maxLength={20_000}
          value={thought}
          onChange={(event) => setThought(event.currentTarget.value)}
        />
        <TextInput
          label={t("review.correct.action")}
          description={t("review.correct.action.help")}
          error={action === null && t("review.correct.bad")}
          value={line}
          onChange={(event) => setLine(event.currentTarget.value)}
          spellCheck={false}
        />
        <TextInput label={t("review.correct.reason")} maxLength={2_000} value={reason} onChange={(event) => setReason(event.currentTarget.value)} />
        <Problem error={change.error} />
        <div className={styles.buttons}>
          <Button type="submit" disabled={action === null || same} loading={change.isPending}>
            {t("review.correct.save")}
          </Button>
          <Button variant="subtle" color="gray" onClick={onClose}>
            {t("common.cancel")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}

/** What was written, as an action; what cannot be written in a line (a gesture, a file) stays while it is left alone. */
function parseCorrection(line: string, before: string, action: Action): Action | null {
  if (line === before) return action;
  const read = parseAction(line);
  return read.ok ? read.action : null;
}
