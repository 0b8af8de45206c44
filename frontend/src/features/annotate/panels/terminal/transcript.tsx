/** The commands that were run, each with what it printed: the record itself, read as a terminal. */
import { useEffect, useRef } from "react";

import type { Step } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { StepErrorText } from "@/shared/ui/episode/step-error-text";
import { useWorkspace } from "@/features/annotate/use-workspace";

import styles from "./terminal.module.css";

export function Transcript() {
  const { t } = useI18n();
  const { steps, episode: { pending } } = useWorkspace();
  const end = useRef<HTMLDivElement>(null);
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [steps.length, pending]);
  const running = pending?.action.kind === "run_command" ? pending.action.command : null;
  const runs = steps.filter(({ action }) => action.kind === "run_command");
  return (
    <div className={styles.screen} role="log" aria-label={t("terminal.commands")}>
      {runs.length === 0 && running === null && <p className={styles.quiet}>{t("terminal.no_commands")}</p>}
      {runs.map((step) => <Run key={step.command_id} step={step} />)}
      {running !== null && <p className={styles.command}>{running}</p>}
      <div ref={end} />
    </div>
  );
}

function Run({ step: { action, after, error } }: { step: Step }) {
  if (action.kind !== "run_command") return null;
  return (
    <>
      <p className={styles.command}>{action.command}</p>
      {after?.text && <pre className={styles.printed}>{after.text}</pre>}
      {error && <p className={styles.wrong}><StepErrorText error={error} /></p>}
    </>
  );
}
