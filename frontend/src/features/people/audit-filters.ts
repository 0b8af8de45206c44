/** What the audit log is narrowed to; it lives in the address. Pure. */
import type { AuditPage } from "@/generated/api";

export type Verb = AuditPage["verbs"][number];

/** What entries are about, as the log names it. */
export const KINDS = [
  ...(["application", "benchmark", "episode", "export", "graph", "group", "host", "image", "import", "invitation", "job", "judge", "machine"] as const),
  ...(["node", "origin", "policy", "pool", "probe", "quota", "retention", "task", "turn", "user", "version", "webhook", "wheel"] as const),
  ...(["writer", "writing"] as const),
];

/** What of the platform acts by itself. */
export const PARTS = ["access_check", "command", "gate", "leases", "passwords", "refills", "retention", "sampling", "webhooks"] as const;

const NAMES = ["words", "actor", "verb", "kind", "id", "since", "until"] as const;
/** Days are as a date field has them; `until` is the last one. */
export type Filters = Readonly<Record<(typeof NAMES)[number], string>>;

const DAY = /^\d{4}-\d{2}-\d{2}$/;

/** Read filters out of an address; empty ones narrow nothing. */
export function fromSearch(search: URLSearchParams): Filters {
  const read = (name: keyof Filters) => search.get(name) ?? "";
  const day = (name: keyof Filters) => (DAY.test(read(name)) && !Number.isNaN(Date.parse(read(name))) ? read(name) : "");
  return { words: read("words"), actor: read("actor"), verb: read("verb"), kind: read("kind"), id: read("id"), since: day("since"), until: day("until") };
}

/** Write them into an address: only what narrows. */
export const toSearch = (filters: Filters): URLSearchParams =>
  new URLSearchParams(NAMES.flatMap((name) => (filters[name] === "" ? [] : [[name, filters[name]]])));

/** The question as the server takes it: moments instead of days in the reader's time zone. */
export function toApiQuery({ kind, id, since, until, ...filters }: Filters): URLSearchParams {
  const fields = {
    ...filters,
    subject: kind && id ? `${kind}:${id}` : kind,
    since: since && midnight(since, 0),
    until: until && midnight(until, 1),
  };
  return new URLSearchParams(Object.entries(fields).filter(([, value]) => value !== ""));
}

/** The beginning of a day, or of one some days later, in the reader's time zone. */
function midnight(day: string, later: number): string {
  const at = new Date(`${day}T00:00`);
  at.setDate(at.getDate() + later);
  return at.toISOString();
}
