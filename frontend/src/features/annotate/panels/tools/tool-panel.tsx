/** The tools the machine offers by name, a form for each, and what the last calls gave. */
import { TextInput, UnstyledButton } from "@mantine/core";
import { useState, type Ref } from "react";

import type { Step } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { StepErrorText } from "@/shared/ui/episode/step-error-text";
import { ActionText } from "@/shared/ui/episode/action-text";
import { useWorkspace } from "@/features/annotate/use-workspace";
import panel from "@/features/annotate/panels/panels.module.css";

import { ToolForm } from "./tool-form";
import styles from "./tools.module.css";

export function ToolPanel() {
  const { t } = useI18n();
  const { episode, steps, panelRef, focusOn, viewportRef } = useWorkspace();
  const { tools } = episode;
  const [wanted, setWanted] = useState("");
  const [chosen, setChosen] = useState<string | null>(null);
  const matching = tools.filter(({ name, description }) => `${name} ${description}`.toLowerCase().includes(wanted.trim().toLowerCase()));
  const tool = tools.find(({ name }) => name === chosen) ?? null;
  const calls = steps.filter(({ action }) => action.kind === "call_tool");
  if (tools.length === 0) return <p className={panel.quiet}>{t("tools.none")}</p>;
  return (
    <div className={panel.split}>
      <div className={panel.folder}>
        <div className={panel.bar}>
          <TextInput
            ref={panelRef as Ref<HTMLInputElement>}
            className={panel.grow}
            aria-label={t("tools.find")}
            placeholder={t("tools.find")}
            value={wanted}
            onChange={(event) => setWanted(event.currentTarget.value)}
            onKeyDown={(event) => {
              const [first] = matching;
              if (event.key === "Escape") focusOn(viewportRef);
              else if (event.key === "Enter" && first) setChosen(first.name);
              else return;
              event.preventDefault();
              event.stopPropagation();
            }}
          />
        </div>
        <ul className={panel.entries} aria-label={t("panel.tools")}>
          {matching.map(({ name, description }) => (
            <li key={name}>
              <UnstyledButton className={styles.tool} aria-pressed={name === chosen} onClick={() => setChosen(name)}>
                <code>{name}</code>
                <span>{description}</span>
              </UnstyledButton>
            </li>
          ))}
        </ul>
        {matching.length === 0 && <p className={panel.quiet}>{t("tools.not_found")}</p>}
      </div>
      <div className={styles.calls}>
        {tool === null ? <p className={panel.quiet}>{t("tools.choose")}</p> : <ToolForm key={tool.name} tool={tool} />}
        {calls.toReversed().map((step) => <Call key={step.command_id} step={step} />)}
      </div>
    </div>
  );
}

function Call({ step: { index, action, after, error } }: { step: Step }) {
  const { t } = useI18n();
  return (
    <section className={styles.call} aria-label={t("timeline.step", { number: index + 1 })}>
      <ActionText action={action} />
      {after?.text && <pre className={panel.result}>{after.text}</pre>}
      {error && <p className={panel.wrong}><StepErrorText error={error} /></p>}
    </section>
  );
}
