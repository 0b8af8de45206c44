/** Which work a report is of; it lives in the address, so a report can be bookmarked and sent. Pure. */
import type { Translate } from "@/shared/i18n/i18n";

export const GROUPINGS = ["pool", "annotator", "policy", "application", "level", "kind", "day"] as const;
export type Grouping = (typeof GROUPINGS)[number];

/** Periods to choose from, in days up to today; two days in the address are any other. */
export const PERIODS = [1, 7, 30, 90, 365] as const;
const DEFAULT_PERIOD = 30;

export const FILTER_NAMES = ["pool", "annotator", "policy", "application", "level", "kind"] as const;
type FilterName = (typeof FILTER_NAMES)[number];

export type Filters = {
  readonly since: string;
  readonly until: string;
  readonly by: Grouping;
} & Readonly<Record<FilterName, string | null>>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** A day as the address has it, in the time zone of whoever looks. */
function dayOf(date: Date): string {
  const part = (value: number) => String(value).padStart(2, "0");
  return `${date.getFullYear()}-${part(date.getMonth() + 1)}-${part(date.getDate())}`;
}

/** Each day from the first to the last of these, those without work too: a gap is told as one. */
export function everyDay(days: readonly string[]): string[] {
  const sorted = [...days].sort();
  const [first, last] = [sorted[0], sorted.at(-1)];
  if (first === undefined || last === undefined) return [];
  const found: string[] = [];
  for (const day = new Date(`${first}T00:00Z`); found.at(-1) !== last; day.setUTCDate(day.getUTCDate() + 1)) {
    found.push(day.toISOString().slice(0, 10));
  }
  return found;
}

/** The days up to and with today. */
export function periodOf(days: number, today: Date): Pick<Filters, "since" | "until"> {
  const first = new Date(today.getFullYear(), today.getMonth(), today.getDate() - days + 1);
  return { since: dayOf(first), until: dayOf(today) };
}

/** Which of the periods these days are; null for any other. */
export const matchPeriod = ({ since, until }: Filters, today: Date): number | null =>
  PERIODS.find((days) => {
    const period = periodOf(days, today);
    return period.since === since && period.until === until;
  }) ?? null;

/** Read filters out of an address; what makes no sense is no filter. */
export function fromSearch(search: URLSearchParams, today: Date): Filters {
  const [since, until] = [search.get("since") ?? "", search.get("until") ?? ""];
  const period = DAY.test(since) && DAY.test(until) && since <= until ? { since, until } : periodOf(DEFAULT_PERIOD, today);
  const pool = search.get("pool");
  return {
    ...period,
    by: GROUPINGS.find((grain) => grain === search.get("by")) ?? "pool",
    pool: pool && /^\d+$/.test(pool) ? pool : null,
    annotator: search.get("annotator"),
    policy: search.get("policy"),
    application: search.get("application"),
    level: /^[1-5]?$/.test(search.get("level") ?? "0") ? search.get("level") : null,
    kind: search.get("kind"),
  };
}

/** Write them into an address: only what is not as usual. */
export function toSearch(filters: Filters, today: Date): URLSearchParams {
  const search = new URLSearchParams();
  if (matchPeriod(filters, today) !== DEFAULT_PERIOD) {
    search.set("since", filters.since);
    search.set("until", filters.until);
  }
  if (filters.by !== "pool") search.set("by", filters.by);
  for (const name of FILTER_NAMES) if (filters[name] !== null) search.set(name, filters[name]);
  return search;
}

/** The question as the server takes it: with the time zone that says where a day begins. */
export function toApiQuery(filters: Filters): URLSearchParams {
  const { since, until, by } = filters;
  const query = new URLSearchParams({ since, until, by, zone: Intl.DateTimeFormat().resolvedOptions().timeZone });
  for (const name of FILTER_NAMES) if (filters[name] !== null) query.set(name, filters[name]);
  return query;
}

/** The filters after a row was chosen: narrowed to it, and by days where there is nothing left to tell apart. */
export function narrowTo(filters: Filters, key: string): Filters {
  if (filters.by === "day") return { ...filters, since: key, until: key, by: "pool" };
  return { ...filters, [filters.by]: key, by: "day" };
}

/** What a row or a filter is called: its own name, or what work that has none is. */
export function valueText(by: Grouping, value: string, t: Translate): string {
  if (value === "") return t(by === "application" || by === "level" ? "reports.unplaced" : "reports.nobody");
  return by === "level" ? t("design.level", { level: value }) : value;
}
