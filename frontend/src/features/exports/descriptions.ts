/** What an export or a version holds, and why rows of it were left out, in words. Pure. */
import type { ExportFilters, ExportPlan } from "@/generated/api";
import type { I18n, PlainKey, Translate } from "@/shared/i18n/i18n";

const REASONS: Readonly<Record<string, PlainKey>> = {
  special_word: "exports.reason.special_word",
  not_normalised: "exports.reason.not_normalised",
  image_count: "exports.reason.image_count",
  mask: "exports.reason.mask",
  point_outside: "exports.reason.point_outside",
  unreadable: "exports.reason.unreadable",
  coordinates: "exports.reason.coordinates",
  turns: "exports.reason.turns",
  unsayable: "exports.reason.unsayable",
  key: "exports.reason.key",
};

/** The words of a code; a code this page does not know stands as it is. */
export function describeReason(t: Translate, code: string): string {
  const key = REASONS[code];
  return key ? t(key) : code;
}

export function describeExport({ t, moment }: Pick<I18n, "t" | "moment">, filters: ExportFilters, plan: ExportPlan): string {
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
