/** The steps that were done without their thought: each can be written now, before the episode ends. */
import { Button, Textarea } from "@mantine/core";

import type { Step } from "@/generated/vocabulary";
import { describeAction } from "@/shared/actions/words";
import type { Texts } from "@/session/drafts";
import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { DialogForm } from "./form";
import styles from "./dialogs.module.css";

/** Where something is about to end the episode, it does so after the thoughts are sent, or without them. */
export function ThoughtsDialog({ onDone }: { onDone: () => void }) {
  const { t } = useI18n();
  const { owed, ending, send, drafts, episode } = useWorkspace();
  const { texts: thoughts, change, clear } = useTexts<Texts>(drafts, episode.id, "thoughts", {});
  const written = owed.filter(({ index }) => (thoughts[index] ?? "").trim() !== "");
  const submit = () => {
    clear();
    for (const { index } of written) send({ type: "thought", index, thought: (thoughts[index] ?? "").trim() });
    onDone();
    ending?.();
  };
  const everything = written.length === owed.length;
  return (
    <DialogForm submit={t(ending === null ? "thoughts.save" : "thoughts.save_finish")} disabled={ending === null ? written.length === 0 : !everything} onSubmit={submit}>
      <p className={styles.help}>{t("thoughts.help")}</p>
      <ol className={styles.thoughts}>
        {owed.map((step, place) => (
          <li key={step.index}>
            <OwedThought
              step={step}
              first={place === 0}
              value={thoughts[step.index] ?? ""}
              onChange={(value) => change({ [step.index]: value })}
            />
          </li>
        ))}
      </ol>
      {ending !== null && !everything && (
        <Button className={styles.without} variant="default" onClick={submit}>{t("thoughts.finish_without", { count: owed.length - written.length })}</Button>
      )}
    </DialogForm>
  );
}

interface OwedThoughtProps {
  readonly step: Step;
  readonly first: boolean;
  readonly value: string;
  readonly onChange: (value: string) => void;
}

function OwedThought({ step, first, value, onChange }: OwedThoughtProps) {
  const i18n = useI18n();
  return (
    <Textarea
      label={`${i18n.t("timeline.step", { number: step.index + 1 })} · ${describeAction(step.action, i18n)}`}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      maxLength={8_000}
      autosize
      minRows={2}
      maxRows={6}
      data-autofocus={first || undefined}
    />
  );
}
