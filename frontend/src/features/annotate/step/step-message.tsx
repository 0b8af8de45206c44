/** Under the command line: what the action means in words, or what is wrong with it and where. */
import type { ParseFailure } from "@/shared/actions/parse";
import { describeAction } from "@/shared/actions/words";
import type { I18n } from "@/shared/i18n/i18n";
import { useI18n } from "@/shared/i18n/i18n";
import { hasScreen } from "@/features/annotate/panels/panels";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { describeRejection } from "./rejections";
import styles from "./step.module.css";

export function StepMessage() {
  const i18n = useI18n();
  const { composed, draft, rejection, episode } = useWorkspace();
  if (rejection !== null && rejection.command?.type !== "input") {
    return <p className={styles.message} data-tone="danger" role="alert">{describeRejection(rejection.code, rejection.message, i18n)}</p>;
  }
  if (composed.ok) return <p className={styles.message}>{describeAction(composed.action, i18n)}</p>;
  if (composed.reason === "thought") {
    return <p className={styles.message} data-tone="warn" role="status">{describeAction(composed.action, i18n)} · {i18n.t(composed.foreign ? "step.thought_foreign" : "step.thought_missing")}</p>;
  }
  if (composed.reason === "parse") {
    const { failure } = composed;
    const where = draft.command.slice(failure.from, failure.to);
    return (
      <p className={styles.message} data-tone="warn" role="status">
        {describeParseFailure(failure, i18n)} {where !== "" && where !== failure.subject && <code>{where}</code>}
      </p>
    );
  }
  return <p className={styles.message}>{i18n.t(hasScreen(episode) ? "step.hint" : "step.hint.panels")}</p>;
}

/** Why a written call is no action, in words. */
function describeParseFailure({ code, subject }: ParseFailure, { t }: I18n): string {
  return t(`command.${code}`, { subject });
}
