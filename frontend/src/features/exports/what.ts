/** Which trajectories an export or a version holds, in words. Pure. */
import type { ExportFilters, ExportPlan } from "@/generated/api";
import type { I18n } from "@/shared/i18n/i18n";

export function inWords({ t, moment }: Pick<I18n, "t" | "moment">, filters: ExportFilters, plan: ExportPlan): string {
  const narrowed = [
    filters.text && `“${filters.text}”`,
    filters.review && t(`review.${filters.review}`),
    filters.outcome && t(`outcome.${filters.outcome}`),
    filters.policy,
    filters.application,
    filters.annotator,
    ...filters.decisions.map((decision) => t(`decision.${decision}`)),
    filters.since && t("exports.since", { day: moment(filters.since) }),
    filters.until && t("exports.until", { day: moment(filters.until) }),
    filters.undone && t("exports.undone"),
  ].filter(Boolean);
  return [plan.format, ...(narrowed.length > 0 ? narrowed : [t("exports.everything")])].join(" · ");
}
