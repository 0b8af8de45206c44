/** A gate's reasons in words. */
import type { Reason } from "@/generated/api";
import type { I18n } from "@/shared/i18n/i18n";

/** One reason; rates are written in percent, attempts as numbers. */
export function reasonText({ code, subject, found, wanted }: Reason, { t, percent }: I18n): string {
  switch (code) {
    case "nothing_evaluated":
    case "worse":
      return t(`policies.reason.${code}`);
    case "not_evaluated":
    case "active_not_evaluated":
    case "task_dropped":
    case "pool_shut":
      return t(`policies.reason.${code}`, { subject });
    case "no_gain":
      return t("policies.reason.no_gain", { gain: percent(found ?? 0) });
    case "gain_by_chance":
      return t("policies.reason.gain_by_chance", { chance: percent(found ?? 0) });
    case "rests_on_a_judge":
      return t("policies.reason.rests_on_a_judge", { found: found ?? 0 });
    case "too_few_attempts":
      return t("policies.reason.too_few_attempts", { subject, found: found ?? 0, wanted: wanted ?? 0 });
    case "success_too_low":
      return t("policies.reason.success_too_low", { found: percent(found ?? 0), wanted: percent(wanted ?? 0) });
    case "worse_task":
      return t("policies.reason.worse_task", { subject, found: percent(found ?? 0), wanted: percent(wanted ?? 0) });
  }
}
