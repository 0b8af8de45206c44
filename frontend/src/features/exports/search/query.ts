/** A query and its address. Pure. */
import type { SavedQueryOut } from "@/generated/api";

type Query = SavedQueryOut["query"];

const EVERYTHING: Query = {
  text: "",
  pool: null,
  decisions: [],
  policy: null,
  application: null,
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
export function addressOf(query: Query): URLSearchParams {
  const search = new URLSearchParams();
  for (const [name, value] of Object.entries(query)) {
    for (const each of Array.isArray(value) ? value : [value]) if (each !== null && each !== "") search.append(name, String(each));
  }
  return search;
}
