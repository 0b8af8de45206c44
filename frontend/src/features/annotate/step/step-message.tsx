/** Under the command line: what the action means in words, or what is wrong with it and where. */
import type { ParseFailure } from "@/shared/actions/parse";
import { describeAction } from "@/shared/actions/words";
import type { I18n } from "@/shared/i18n/i18n";
import { useI18n } from "@/shared/i18n/i18n";
import { hasScreen } from "@/features/annotate/panels/panels";
import { useWorkspace } from "@/features/annotate/use-workspace";

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

const REJECTION_CODES = [
  "view_only",
  "not_running",
  "stale_accept",
  "secret_unconfirmed",
  "no_secret_request",
  "safety_check_unacknowledged",
  "unknown_proposal",
  "unparsed_proposal",
  "too_many_actions",
  "thought_required",
  "no_thought_owed",
  "off_screen",
  "unsupported_action",
  "in_takeover",
  "not_in_takeover",
  "cannot_undo",
  "nothing_to_undo",
  "undo_blocked",
  "undo_unanswered",
  "flooding",
  "queue_full",
  "outcome_unknown",
  "machine_gone",
  "step_limit",
  "page_done",
  "time_over",
  "command_conflict",
  "unknown_memory",
] as const;

/** Why the server refused, in the reader's language where the code is known. */
function describeRejection(code: string, message: string, { t }: I18n): string {
  if (code === "cannot_restore") return t("refused.cannot_restore", { reason: message });
  const known = REJECTION_CODES.find((one) => one === code);
  return known === undefined ? message : t(`refused.${known}`);
}
