/** The notebook: each cell that was run is a step, and the last one is being written. The machine's kernel keeps the state. */
import { Button, UnstyledButton } from "@mantine/core";
import { lazy, Suspense, useEffect, useRef, useState } from "react";

import type { Step } from "@/generated/vocabulary";
import { blobUrlOf } from "@/shared/api/episodes";
import { useTexts } from "@/session/use-texts";
import { useI18n } from "@/shared/i18n/i18n";
import { StepErrorText } from "@/shared/ui/episode/step-error-text";
import { CodeEditor } from "@/features/annotate/panels/code-editor";
import { DEFAULT_LIMIT, TimeLimit } from "@/features/annotate/panels/time-limit";
import { useWorkspace } from "@/features/annotate/use-workspace";
import panel from "@/features/annotate/panels/panels.module.css";

import styles from "./notebook.module.css";

const HighlightedCode = lazy(() => import("@/shared/ui/episode/highlighted-code"));

export function NotebookPanel() {
  const { t } = useI18n();
  const { episode, drafts, steps, canAct, perform, panelRef, focusOn, viewportRef } = useWorkspace();
  const { texts: { code }, change, clear } = useTexts(drafts, episode.id, "cell", { code: "" });
  const setCode = (code: string) => change({ code });
  const [limit, setLimit] = useState<number>(DEFAULT_LIMIT.code);
  const end = useRef<HTMLDivElement>(null);
  const cells = steps.filter(({ action }) => action.kind === "run_code");
  const running = episode.pending?.action.kind === "run_code" ? episode.pending.action.code : null;
  useEffect(() => {
    end.current?.scrollIntoView({ block: "nearest" });
  }, [cells.length, running]);
  const run = () => {
    if (!canAct || code.trim() === "") return;
    perform({ kind: "run_code", code, timeout: limit });
    clear();
  };
  return (
    <div className={styles.notebook}>
      {cells.length === 0 && running === null && <p className={panel.quiet}>{t("notebook.empty")}</p>}
      {cells.map((step, index) => <Cell key={step.command_id} step={step} number={index + 1} onCopy={setCode} />)}
      {running !== null && (
        <section className={styles.cell} aria-label={t("notebook.running")}>
          <span className={styles.count}>*</span>
          <pre className={styles.code}>{running}</pre>
        </section>
      )}
      <section className={styles.cell} aria-label={t("notebook.next")}>
        <span className={styles.count}>{cells.length + 1}</span>
        <div className={styles.within}>
          <CodeEditor
            ref={panelRef}
            value={code}
            onChange={setCode}
            name="cell.py"
            label={t("notebook.code")}
            readOnly={!canAct}
            keys={{ "Shift-Enter": run, "Mod-Enter": run }}
            onLeave={() => focusOn(viewportRef)}
          />
          <div className={panel.bar}>
            <Button size="compact-xs" disabled={!canAct || code.trim() === ""} onClick={run}>{t("notebook.run")}</Button>
            <TimeLimit value={limit} onChange={setLimit} />
            <span className={panel.note}>{t("notebook.help")}</span>
          </div>
        </div>
      </section>
      <div ref={end} />
    </div>
  );
}

function Cell({ step: { action, after, error }, number, onCopy }: { step: Step; number: number; onCopy: (code: string) => void }) {
  const { t } = useI18n();
  const { episode } = useWorkspace();
  if (action.kind !== "run_code") return null;
  const picture = after?.attachment?.media_type.startsWith("image/") === true ? after.attachment : null;
  return (
    <section className={styles.cell} aria-label={t("notebook.cell", { number })}>
      <span className={styles.count}>{number}</span>
      <div className={styles.within}>
        <pre className={styles.code}><Suspense fallback={action.code}><HighlightedCode text={action.code} /></Suspense></pre>
        {after?.text && <pre className={panel.result}>{after.text}</pre>}
        {picture && <img className={styles.plot} src={blobUrlOf(episode.id)(picture.sha256)} alt={t("notebook.picture", { number })} />}
        {error && <p className={panel.wrong}><StepErrorText error={error} /></p>}
        <UnstyledButton className={styles.again} onClick={() => onCopy(action.code)}>{t("notebook.copy")}</UnstyledButton>
      </div>
    </section>
  );
}
