/** The step a person composes: thought, action, and the one key that does it. */
import { Button, SegmentedControl } from "@mantine/core";
import type { KeyboardEvent } from "react";

import { useI18n, type Translate } from "@/shared/i18n/i18n";
import { CommandKey } from "@/shared/ui/key-hint";
import { clear, owedThoughts, submitStep } from "@/features/annotate/commands";
import type { Composed } from "@/features/annotate/composer";
import type { Enter } from "@/features/annotate/enter";
import { hasScreen } from "@/features/annotate/panels/panels";
import { useWorkspace } from "@/features/annotate/use-workspace";
import { EMPTY_DRAFT, isEmpty } from "@/session/drafts";
import { rangesAfterEdit } from "@/session/text-ranges";

import { CommandLineEditor } from "./command-line";
import { GhostTextarea } from "./ghost-textarea";
import { HeldKeys } from "./held-keys";
import { HotkeyMode, TypeMode } from "./keyboard-modes";
import { StepMessage } from "./step-message";
import { ThoughtDiff } from "./thought-diff";
import styles from "./step.module.css";

const MODES = ["point", "type", "hotkey"] as const;

export function StepComposer() {
  const { t } = useI18n();
  const { mode, setMode, canAct, episode } = useWorkspace();
  return (
    <section className={styles.panel} aria-labelledby="step-title">
      <header className={styles.head}>
        <h2 id="step-title">{t("step.title")}</h2>
        {hasScreen(episode) && (
          <SegmentedControl
            size="xs"
            aria-label={t("step.mode")}
            disabled={!canAct}
            value={mode === "press" || mode === "release" ? "hotkey" : mode}
            onChange={(value) => setMode(MODES.find((known) => known === value) ?? "point")}
            data={MODES.map((value) => ({ value, label: t(`step.mode.${value}`) }))}
          />
        )}
      </header>
      {mode === "type" && <TypeMode />}
      {(mode === "hotkey" || mode === "press" || mode === "release") && <HotkeyMode />}
      {mode === "point" && <Composer />}
    </section>
  );
}

function Composer() {
  const { t } = useI18n();
  const workspace = useWorkspace();
  const { draft, setDraft, episode, canAct, thoughtRef, viewportRef } = workspace;
  const edited = draft.original !== "" && draft.thought !== draft.original;
  const source = episode.proposals.find(({ id }) => id === draft.proposalId);
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Enter" && !event.shiftKey) workspace.submitStep();
    else if (event.key === "Escape") viewportRef.current?.focus({ preventScroll: true });
    else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <>
      <label className={styles.label} htmlFor="thought">
        {t("step.thought")}
        {source && <span className={styles.from}>{t("step.from", { number: source.rank })}</span>}
        {episode.thought_required && draft.thought.trim() === "" && (
          <span className={styles.from}>{t(episode.thought_later ? "step.later" : "step.required")}</span>
        )}
      </label>
      <GhostTextarea
        id="thought"
        ref={thoughtRef}
        value={draft.thought}
        placeholder={t("step.thought.placeholder")}
        question={draft.thought === draft.original ? null : { thought: draft.thought }}
        written={episode.proposals.map((proposal) => proposal.thought).filter((written) => written !== draft.original)}
        onChange={(thought) => setDraft({ ...draft, thought, taken: rangesAfterEdit(draft.taken, draft.thought, thought) })}
        onTake={(thought) => setDraft({ ...draft, thought, taken: [...draft.taken, [draft.thought.length, thought.length]] })}
        onKeyDown={key}
        readOnly={!canAct}
        autosize
        minRows={2}
        maxRows={5}
        maxLength={8_000}
      />
      {edited && <ThoughtDiff before={draft.original} after={draft.thought} />}
      <CommandLineEditor />
      <StepMessage />
      <OwedThoughts />
      <HeldKeys />
      <div className={styles.buttons}>
        <SubmitButton />
        <Button
          variant="default"
          disabled={isEmpty(draft)}
          onClick={() => setDraft(EMPTY_DRAFT)}
          rightSection={<CommandKey command={clear} />}
        >
          {t("workspace.clear")}
        </Button>
      </div>
    </>
  );
}

/** How many steps still lack their thought, and the way to write them. */
function OwedThoughts() {
  const { t } = useI18n();
  const { owed, canWriteThoughts, setDialog } = useWorkspace();
  if (owed.length === 0) return null;
  return (
    <Button
      size="compact-sm"
      variant="default"
      disabled={!canWriteThoughts}
      onClick={() => setDialog("thoughts")}
      rightSection={<CommandKey command={owedThoughts} />}
    >
      {t("thoughts.owed", { count: owed.length })}
    </Button>
  );
}

/** Says what Enter will do. */
function SubmitButton() {
  const { t } = useI18n();
  const { composed, enter, submitStep: run } = useWorkspace();
  return (
    <Button
      className={styles.do}
      disabled={enter.does === "nothing" || (enter.does === "step" && !composed.ok)}
      onClick={run}
      rightSection={<CommandKey command={submitStep} />}
    >
      {enterLabel(enter, composed, t)}
    </Button>
  );
}

function enterLabel(enter: Enter, composed: Composed, t: Translate): string {
  if (enter.does === "accept") return t("step.accept", { number: enter.proposal.rank });
  if (enter.does === "accept_end") return t(`step.accept_${enter.proposal.action?.kind === "infeasible" ? "infeasible" : "finish"}`);
  if (enter.does === "finish" || enter.does === "finish_ask") return t(`step.${enter.does}`);
  if (enter.does === "nothing") return t(`step.enter.${enter.why}`);
  return t(composed.ok && composed.body.type === "accept" ? "step.accept_edited" : "workspace.do");
}
