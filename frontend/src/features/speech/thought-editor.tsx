/** One thought of a recorded session: its words, and what can be changed of it. */
import { Button, Textarea, TextInput } from "@mantine/core";
import { useState, type KeyboardEvent } from "react";

import type { SpeechOut, ThoughtEditIn, ThoughtOut } from "@/generated/api";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Dialog } from "@/shared/ui/dialog";
import { CommandKey, KeyHint } from "@/shared/ui/key-hint";
import { Problem } from "@/shared/ui/problem";

import type { SpeechChange, useSpeechChange } from "./api";
import { speechCommands } from "./commands";
import styles from "./speech.module.css";
import { clock, readSteps, sameWords } from "./time-axis";

type Props = {
  speech: SpeechOut;
  place: number;
  /** The word at the cursor, by its place in the session. */
  word: number;
  onWord: (word: number) => void;
  currentStep: number;
  change: ReturnType<typeof useSpeechChange>;
};

type Form = "write" | "assign" | "redact";

export function ThoughtEditor({ speech, place, word, onWord, currentStep, change }: Props) {
  const [form, setForm] = useState<Form | null>(null);
  const thought = speech.thoughts[place];
  if (!thought) return null;
  const send: Send = (fields) => void change.mutateAsync(fields).then(() => setForm(null), () => undefined);
  return (
    <div className={styles.editor}>
      <ThoughtHead thought={thought} place={place} />
      {thought.written && <p className={styles.written}>{thought.text}</p>}
      <WordRow speech={speech} thought={thought} word={word} onWord={onWord} />
      {speech.may_edit && (
        <>
          <Toolbar speech={speech} thought={thought} place={place} word={word} currentStep={currentStep} pending={change.isPending} send={send} onOpen={setForm} />
          <Problem error={change.error} />
          <Forms form={form} onClose={() => setForm(null)} speech={speech} thought={thought} place={place} word={word} pending={change.isPending} send={send} />
        </>
      )}
    </div>
  );
}

type Send = (change: SpeechChange) => void;
type Selection = { speech: SpeechOut; thought: ThoughtOut; place: number; word: number; pending: boolean; send: Send };

/** What can be done with the selected thought and word, by buttons and by keys. */
function Toolbar({ speech, thought, place, word, currentStep, pending, send, onOpen }: Selection & { currentStep: number; onOpen: (form: Form) => void }) {
  const { t } = useI18n();
  const { revision: base, steps, thoughts, words } = speech;
  const edit = (fields: Omit<ThoughtEditIn, "base" | "thought">) => send({ type: "edit", base, thought: place, ...fields });
  const actions = {
    write: { possible: true, run: () => onOpen("write") },
    split: { possible: word > thought.first_word && word <= thought.last_word, run: () => edit({ do: "split", word }) },
    merge: { possible: place + 1 < thoughts.length, run: () => edit({ do: "merge" }) },
    assign: { possible: true, run: () => onOpen("assign") },
    assign_here: { possible: steps.length > 0, run: () => edit({ do: "assign", steps: [currentStep] }) },
    redact: { possible: Boolean(words[word]?.text), run: () => onOpen("redact") },
    undo: { possible: base > 0, run: () => edit({ do: "undo" }) },
  };
  const verbs = Object.keys(actions) as (keyof typeof actions)[];
  useCommands(verbs.map((verb) => ({ command: speechCommands[verb], enabled: actions[verb].possible && !pending, run: actions[verb].run })));
  return (
    <div className={styles.buttons}>
      {verbs.map((verb) => (
        <Button key={verb} size="compact-xs" variant="default" disabled={!actions[verb].possible || pending} onClick={actions[verb].run} rightSection={<CommandKey command={speechCommands[verb]} />}>
          {t(`speech.${verb}`)}
        </Button>
      ))}
    </div>
  );
}

function Forms({ form, onClose, speech, thought, place, word, pending, send }: Selection & { form: Form | null; onClose: () => void }) {
  const { t } = useI18n();
  const { revision: base, steps } = speech;
  const edit = (fields: Omit<ThoughtEditIn, "base" | "thought">) => send({ type: "edit", base, thought: place, ...fields });
  return (
    <>
      <Dialog opened={form === "write"} onClose={onClose} title={t("speech.write.title", { number: place + 1 })}>
        <WriteForm key={`${base} ${place}`} thought={thought} pending={pending} onSave={(text) => edit({ do: "write", text })} />
      </Dialog>
      <Dialog opened={form === "assign"} onClose={onClose} title={t("speech.assign.title", { number: place + 1 })}>
        <AssignForm key={`${base} ${place}`} thought={thought} count={steps.length} pending={pending} onSave={(chosen) => edit({ do: "assign", steps: chosen })} />
      </Dialog>
      <Dialog opened={form === "redact"} onClose={onClose} title={t("speech.redact.title")}>
        <RedactForm speech={speech} word={word} pending={pending} onRedact={(words) => send({ type: "redact", words })} />
      </Dialog>
    </>
  );
}

function ThoughtHead({ thought: { begin, end, role, steps, step, written }, place }: { thought: ThoughtOut; place: number }) {
  const { t } = useI18n();
  return (
    <p className={styles.head}>
      <strong>{t("speech.thought", { number: place + 1 })}</strong>
      <span>
        {clock(begin)}–{clock(end)}
      </span>
      <Badge tone="neutral">{t(`speech.role.${role}`)}</Badge>
      <span>{steps.length === 0 ? t("speech.about.none") : t("speech.about", { steps: steps.map((index) => index + 1).join(", ") })}</span>
      {step !== null && <span>{t("speech.stands", { number: step + 1 })}</span>}
      {written && <Badge tone="warn">{t("speech.written")}</Badge>}
    </p>
  );
}

function WordRow({ speech, thought, word, onWord }: { speech: SpeechOut; thought: ThoughtOut } & Pick<Props, "word" | "onWord">) {
  const { t } = useI18n();
  return (
    <p className={styles.said}>
      <span className={styles.label}>{t("speech.said")}</span>
      {speech.words.slice(thought.first_word, thought.last_word + 1).map(({ text }, index) => {
        const at = thought.first_word + index;
        return (
          <button key={at} type="button" className={styles.word} aria-pressed={at === word} data-redacted={text === "" || undefined} tabIndex={-1} onClick={() => onWord(at)}>
            {text || t("speech.redacted")}
          </button>
        );
      })}
    </p>
  );
}

type WriteProps = { thought: ThoughtOut; pending: boolean; onSave: (text: string | null) => void };

function WriteForm({ thought, pending, onSave }: WriteProps) {
  const { t } = useI18n();
  const [text, setText] = useState(thought.text);
  const press = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing || event.key !== "Enter" || !(event.ctrlKey || event.metaKey)) return;
    event.preventDefault();
    onSave(text);
  };
  return (
    <div className={styles.form}>
      <Textarea data-autofocus label={t("speech.write.text")} autosize minRows={2} maxRows={8} maxLength={20_000} value={text} readOnly={pending} onChange={(event) => setText(event.currentTarget.value)} onKeyDown={press} />
      <div className={styles.buttons}>
        <Button size="compact-md" loading={pending} disabled={text === thought.text} onClick={() => onSave(text)} rightSection={<KeyHint keys="Mod+Enter" />}>
          {t("speech.save")}
        </Button>
        {thought.written && (
          <Button size="compact-md" variant="default" disabled={pending} onClick={() => onSave(null)}>
            {t("speech.write.as_said")}
          </Button>
        )}
      </div>
    </div>
  );
}

type AssignProps = { thought: ThoughtOut; count: number; pending: boolean; onSave: (steps: number[]) => void };

function AssignForm({ thought, count, pending, onSave }: AssignProps) {
  const { t } = useI18n();
  const [text, setText] = useState(thought.steps.map((step) => step + 1).join(", "));
  const steps = readSteps(text, count);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        if (steps && !pending) onSave(steps);
      }}
    >
      <TextInput data-autofocus label={t("speech.assign.steps")} description={t("speech.assign.how", { count })} error={steps === null && t("speech.assign.bad")} value={text} onChange={(event) => setText(event.currentTarget.value)} />
      <Button type="submit" size="compact-md" loading={pending} disabled={steps === null} rightSection={<KeyHint keys="Enter" />}>
        {t("speech.save")}
      </Button>
    </form>
  );
}

type RedactProps = { speech: SpeechOut; word: number; pending: boolean; onRedact: (words: number[]) => void };

function RedactForm({ speech, word, pending, onRedact }: RedactProps) {
  const { t } = useI18n();
  const same = sameWords(speech.words, word);
  return (
    <div className={styles.form}>
      <p>{t("speech.redact.warning", { word: speech.words[word]?.text ?? "" })}</p>
      <div className={styles.buttons}>
        <Button data-autofocus size="compact-md" color="red" loading={pending} onClick={() => onRedact([word])}>
          {t("speech.redact.one")}
        </Button>
        {same.length > 1 && (
          <Button size="compact-md" color="red" variant="outline" disabled={pending} onClick={() => onRedact(same)}>
            {t("speech.redact.all", { count: same.length })}
          </Button>
        )}
      </div>
    </div>
  );
}
