/** A better thought and action for a step, in the place of the verdicts; the executed ones are kept. */
import { Button, Textarea, TextInput } from "@mantine/core";
import type { KeyboardEvent } from "react";

import { pointsOf } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import { KeyHint } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";

import type { useChange } from "./api";
import styles from "./review.module.css";
import type { Correction, CorrectionEditor } from "./use-corrections";

type Props = { correction: Correction; editor: CorrectionEditor; change: ReturnType<typeof useChange> };

/** The thought is what is typed next. */
const focus = (field: HTMLTextAreaElement | null) => field?.focus();

export function CorrectionForm({ correction, editor, change }: Props) {
  const { t } = useI18n();
  const { index, thought, line, reason, action, changed, base } = correction;
  const close = () => editor.close(index);
  const save = () => {
    if (action === null || !changed || change.isPending) return;
    // Also where another step is looked at meanwhile; `change` shows an error.
    change.mutateAsync({ type: "mend", index, base, thought, action, reason: reason.trim() }).then(close, () => undefined);
  };
  // What is typed while it is saved would be lost with the form, or be written over an old revision.
  const saving = change.isPending && change.variables.type === "mend" && change.variables.index === index;
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && (event.ctrlKey || event.metaKey)) {
      event.preventDefault();
      save();
    }
    if (event.key === "Escape") {
      event.preventDefault();
      close();
    }
  };
  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the keys belong to the fields inside
    <form
      className={styles.form}
      aria-label={t("review.correct.title", { number: index + 1 })}
      onKeyDown={press}
      onSubmit={(event) => {
        event.preventDefault();
        save();
      }}
    >
      <h3 className={styles.title}>{t("review.correct.title", { number: index + 1 })}</h3>
      <p className={styles.note}>{t("review.correct.executed")}</p>
      <Textarea
        ref={focus}
        label={t("review.correct.thought")}
        autosize
        minRows={2}
        maxRows={5}
        maxLength={20_000}
        readOnly={saving}
        value={thought}
        onChange={(event) => editor.change(index, { thought: event.currentTarget.value })}
      />
      <TextInput
        label={t("review.correct.action")}
        description={t(action && pointsOf(action).length > 0 ? "review.correct.points.help" : "review.correct.action.help")}
        error={action === null && t("review.correct.bad")}
        readOnly={saving}
        value={line}
        onChange={(event) => editor.change(index, { line: event.currentTarget.value })}
        spellCheck={false}
      />
      <TextInput
        label={t("review.correct.reason")}
        maxLength={2_000}
        readOnly={saving}
        value={reason}
        onChange={(event) => editor.change(index, { reason: event.currentTarget.value })}
      />
      <Problem error={change.error} />
      <div className={styles.buttons}>
        <Button size="compact-md" type="submit" disabled={action === null || !changed} loading={change.isPending} rightSection={<KeyHint keys="Mod+Enter" />}>
          {t("review.correct.save")}
        </Button>
        <Button size="compact-md" variant="subtle" color="gray" onClick={close} rightSection={<KeyHint keys="Escape" />}>
          {t("common.cancel")}
        </Button>
      </div>
    </form>
  );
}
