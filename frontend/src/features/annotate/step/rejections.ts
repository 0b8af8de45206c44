/** Why the server refused a command, in words. */
import type { I18n } from "@/shared/i18n/i18n";

/** The codes that have words of their own; that of `cannot_restore` holds the server's message. */
export const REJECTION_CODES = [
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
  "not_your_step",
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
export function describeRejection(code: string, message: string, { t }: I18n): string {
  if (code === "cannot_restore") return t("refused.cannot_restore", { reason: message });
  const known = REJECTION_CODES.find((one) => one === code);
  return known === undefined ? message : t(`refused.${known}`);
}
