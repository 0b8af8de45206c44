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

/** A bound on a number, from one side or both; nothing where there is none. */
function describeRange(name: string, least: number | null | undefined, most: number | null | undefined): string {
  const sides = [least != null && `≥ ${least}`, most != null && `≤ ${most}`].filter(Boolean);
  return sides.length > 0 ? `${name} ${sides.join(", ")}` : "";
}

type Described = { readonly pool?: string; readonly filters: ExportFilters; readonly plan: ExportPlan };

/** What is in it, by all that narrows it. */
export function describeExport({ t, moment }: Pick<I18n, "t" | "moment">, { pool, filters, plan }: Described): string {
  const narrowed = [
    pool && t("exports.of_pool", { pool }),
    filters.text && `“${filters.text}”`,
    filters.review && t(`review.${filters.review}`),
    filters.outcome && t(`outcome.${filters.outcome}`),
    filters.policy,
    filters.application,
    filters.action,
    filters.annotator,
    ...filters.decisions.map((decision) => t(`decision.${decision}`)),
    filters.level != null && t("exports.level", { level: filters.level }),
    describeRange(t("exports.reward"), filters.reward_min, filters.reward_max),
    describeRange(t("exports.steps"), filters.steps_min, filters.steps_max),
    filters.since && t("exports.since", { day: moment(filters.since) }),
    filters.until && t("exports.until", { day: moment(filters.until) }),
    filters.undone && t("exports.undone"),
    ...plan.variants.map((kind) => t(`exports.variants.${kind}`)),
  ].filter(Boolean);
  return [plan.format, ...(narrowed.length > 0 ? narrowed : [t("exports.everything")])].join(" · ");
}
