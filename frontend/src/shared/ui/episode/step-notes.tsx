/** What a step says beside its action and thought: what the clipboard gave or took, what a takeover did, that a supervisor decided, and that the thought is missing. */
import type { Action, Step } from "@/generated/vocabulary";
import { describeAction } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import styles from "./action-text.module.css";

/** More inputs than this are counted, not listed. */
const MOST_INPUTS = 200;

/** `supervisor` is the name of the supervisor who decided in the annotator's place, where it is known. */
export function StepNotes({ step, supervisor }: { step: Step; supervisor?: string | undefined }) {
  return (
    <>
      {step.acted_by != null && <Supervisor name={supervisor} />}
      <ThoughtBadge step={step} />
      {step.continued_characters > 0 && <Continued count={step.continued_characters} />}
      <ClipboardText step={step} />
      {step.action.kind === "gesture" && <Inputs inputs={step.action.inputs} />}
    </>
  );
}

/** When the thought of a person's step was not written with it. */
function ThoughtBadge({ step: { decision, thought, thought_timing: timing } }: { step: Step }) {
  const { t } = useI18n();
  if (timing === "owed") return <p><Badge tone="warn" title={t("step.thought_owed.help")}>{t("step.thought_owed")}</Badge></p>;
  if (timing === "later") return <p><Badge tone="neutral" title={t("step.thought_later.help")}>{t("step.thought_later")}</Badge></p>;
  const missing = (decision === "override" || decision === "takeover") && thought.trim() === "";
  return missing && <p><Badge tone="neutral" title={t("step.no_thought.help")}>{t("step.no_thought")}</Badge></p>;
}

/** That the step is not the annotator's own. */
function Supervisor({ name }: { name: string | undefined }) {
  const { t } = useI18n();
  return <p><Badge tone="neutral" title={t("step.supervisor.help")}>{name ? t("step.supervisor_by", { name }) : t("step.supervisor")}</Badge></p>;
}

/** How much of the thought the policy wrote after what was typed. */
function Continued({ count }: { count: number }) {
  const { t } = useI18n();
  return <p><Badge tone="neutral" title={t("step.continued.help")}>{t("step.continued", { count })}</Badge></p>;
}

function ClipboardText({ step: { action, after } }: { step: Step }) {
  const { t } = useI18n();
  const given = action.kind === "set_clipboard" ? action.text : null;
  const taken = action.kind === "get_clipboard" ? (after?.text ?? null) : null;
  const text = given ?? taken;
  if (text === null) return null;
  return (
    <figure className={styles.clipboard}>
      <figcaption>{t(given === null ? "step.clipboard.from" : "step.clipboard.to")}</figcaption>
      {text === "" ? <em>{t("step.clipboard.empty")}</em> : <pre className={styles.body}>{text}</pre>}
    </figure>
  );
}

function Inputs({ inputs }: Pick<Extract<Action, { kind: "gesture" }>, "inputs">) {
  const i18n = useI18n();
  const listed = inputs.slice(0, MOST_INPUTS);
  return (
    <details>
      <summary>{i18n.t("step.inputs", { count: inputs.length })}</summary>
      <ol className={styles.inputs}>
        {listed.map(({ at_ms: at, input }, index) => (
          <li key={index}><span>{i18n.duration(at)}</span> {describeAction(input, i18n)}</li>
        ))}
      </ol>
      {listed.length < inputs.length && <p>{i18n.t("step.inputs.more", { count: inputs.length - listed.length })}</p>}
    </details>
  );
}
