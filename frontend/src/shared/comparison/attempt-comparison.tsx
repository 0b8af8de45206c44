/** Two attempts at one task side by side, in step with each other from the row where they part: pictures, thoughts, actions. */
import { Button } from "@mantine/core";
import { useState, type ReactNode } from "react";

import type { AlignedSteps } from "@/generated/api";
import type { Observation, Step } from "@/generated/vocabulary";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { StepErrorText } from "@/shared/ui/episode/step-error-text";
import { ActionText } from "@/shared/ui/episode/action-text";
import { Badge } from "@/shared/ui/badge";
import { Frame } from "@/shared/ui/episode/frame";
import { CommandKey } from "@/shared/ui/key-hint";
import type { BlobUrl } from "@/shared/ui/episode/thumbnail";

import styles from "./comparison.module.css";
import { comparisonCommands } from "./commands";
import { StepRows } from "./step-rows";

const SIDES = ["one", "other"] as const;
type SideName = (typeof SIDES)[number];

export type ComparedAttempt = {
  /** Whose it is, for those who hear the page. */
  readonly name: string;
  readonly steps: readonly Step[];
  readonly blobUrl: BlobUrl;
  /** What stands over its picture, at the step that is shown. */
  readonly renderHeader: (step: Step | undefined) => ReactNode;
};

type Props = {
  title: string;
  /** What both did, row by row, and the first row where they differ. */
  alignment: { readonly pairs: readonly AlignedSteps[]; readonly divergence: number | null; readonly agreement: number };
  one: ComparedAttempt;
  other: ComparedAttempt;
  /** What else stands in the head of the page. */
  children?: ReactNode;
};

export function AttemptComparison({ title, alignment: { pairs, divergence, agreement }, one, other, children }: Props) {
  const { t, percent } = useI18n();
  const [row, setRow] = useState(divergence ?? 0);
  const [after, setAfter] = useState(false);
  const go = (to: number) => setRow(Math.min(Math.max(to, 0), Math.max(pairs.length - 1, 0)));
  const attempts = { one, other };
  useCommands([
    { command: comparisonCommands.next, run: () => go(row + 1) },
    { command: comparisonCommands.previous, run: () => go(row - 1) },
    { command: comparisonCommands.divergence, enabled: divergence !== null, run: () => go(divergence ?? 0) },
    { command: comparisonCommands.after, run: () => setAfter(!after) },
  ]);
  return (
    <div className={styles.compare}>
      <div className={styles.head}>
        <h2>{title}</h2>
        <span>{t("compare.agreement", { share: percent(agreement) })}</span>
        {divergence === null ? (
          <Badge tone="ok">{t("compare.same")}</Badge>
        ) : (
          <Button size="compact-sm" variant="default" onClick={() => go(divergence)} rightSection={<CommandKey command={comparisonCommands.divergence} />}>
            {t("compare.diverge_at", { number: divergence + 1 })}
          </Button>
        )}
        <Button
          size="compact-sm"
          variant="default"
          aria-pressed={after}
          onClick={() => setAfter(!after)}
          rightSection={<CommandKey command={comparisonCommands.after} />}
        >
          {t(after ? "timeline.after" : "timeline.before")}
        </Button>
        {children}
      </div>
      {SIDES.map((name) => (
        <Side
          key={name}
          name={name}
          attempt={attempts[name]}
          step={attempts[name].steps[pairs[row]?.[name] ?? -1]}
          screen={screenAt(pairs, row, name, attempts[name].steps)}
          same={pairs[row]?.same ?? true}
          after={after}
        />
      ))}
      <StepRows pairs={pairs} divergence={divergence} one={one.steps} other={other.steps} current={row} onSelect={go} />
    </div>
  );
}

/** What an attempt's screen showed when a row was reached, though it may have done nothing there. */
function screenAt(pairs: readonly AlignedSteps[], row: number, name: SideName, steps: readonly Step[]): Observation | null {
  const next = pairs.slice(row).find((pair) => pair[name] !== null)?.[name];
  return (next == null ? steps.at(-1)?.after : steps[next]?.before) ?? null;
}

type SideProps = { name: SideName; attempt: ComparedAttempt; step: Step | undefined; screen: Observation | null; same: boolean; after: boolean };

function Side({ name, attempt, step, screen, same, after }: SideProps) {
  const { t } = useI18n();
  const done = step !== undefined && after;
  const description = done ? t("replay.frame_after", { number: step.index + 1 }) : step && t("replay.frame_before", { number: step.index + 1 });
  return (
    <section className={styles.side} aria-label={t(`compare.side.${name}`, { name: attempt.name })} data-differs={!same || undefined}>
      <div className={styles.sideHead}>{attempt.renderHeader(step)}</div>
      <Frame
        observation={done ? step.after : screen}
        blobUrl={attempt.blobUrl}
        alt={description ?? t("compare.screen")}
        marks={step && !after ? [{ key: step.command_id, action: step.action, tone: "done" }] : []}
      />
      <StepText step={step} />
    </section>
  );
}

/** What was done, why, and what became of it where it failed. */
function StepText({ step }: { step: Step | undefined }) {
  const { t } = useI18n();
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-tabindex -- what scrolls takes the focus, so that keys can scroll it
    <div className={styles.sideFoot} tabIndex={0} role="group" aria-label={t("compare.step_text")}>
      {step ? <ActionText action={step.action} /> : <em>{t("compare.nothing")}</em>}
      {step?.thought && <p>{step.thought}</p>}
      {step?.error && (
        <p className={styles.error}>
          <StepErrorText error={step.error} /> <code>{step.error.code}</code>
        </p>
      )}
    </div>
  );
}
