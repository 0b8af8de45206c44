/** A query and its address. Pure. */
import type { SavedQueryOut } from "@/generated/api";

type Query = Required<SavedQueryOut["query"]>;

const EVERYTHING: Query = {
  text: "",
  pool: null,
  decisions: [],
  policy: null,
  application: null,
  action: null,
  level: null,
  outcome: null,
  review: null,
  annotator: null,
  reward_min: null,
  reward_max: null,
  steps_min: null,
  steps_max: null,
  since: null,
  until: null,
};
const NUMBERS = new Set(["pool", "level", "reward_min", "reward_max", "steps_min", "steps_max"]);

/** What an address asks for. */
export function queryOf(search: URLSearchParams): Query {
  const given: Record<string, unknown> = {};
  for (const name of Object.keys(EVERYTHING)) {
    const values = search.getAll(name);
    if (values.length === 0) continue;
    if (name === "decisions") given[name] = values;
    else given[name] = NUMBERS.has(name) ? Number(values[0]) : values[0];
  }
  return { ...EVERYTHING, ...given };
}

/** The address of a query: only what narrows it. */
export function addressOf(query: Partial<Query>): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== null && each !== "") search.append(name, String(each));
  }
  return search;
}

/** The day of a moment, as a date field has it, in the reader's time zone; empty where there is none. */
export function dayOf(moment: string | null): string {
  if (!moment) return "";
  const at = new Date(moment);
  return [at.getFullYear(), at.getMonth() + 1, at.getDate()].map((part, place) => String(part).padStart(place === 0 ? 4 : 2, "0")).join("-");
}

/** The beginning of a day in the reader's time zone; null where none is given. */
export const momentOf = (day: string): string | null => (day === "" ? null : new Date(`${day}T00:00`).toISOString());
