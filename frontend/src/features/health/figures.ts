/** What was counted of a part, in words. */
import type { Check } from "@/generated/api";
import type { I18n } from "@/shared/i18n/i18n";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

type Figures = Check["figures"];
type Describe = (figures: Figures, i18n: I18n, now: number) => readonly (string | undefined)[];

const ago = (seconds: number, { relative }: I18n, now: number) => relative(now - seconds * SECOND_MS, now);

/** `say` of a number that was told; nothing of one that was not. */
const ifKnown = (number: number | undefined, describe: (number: number) => string) => (number === undefined ? undefined : describe(number));

const heartbeat: Describe = ({ age }, i18n, now) => [
  ifKnown(age, (seconds) => i18n.t("health.heartbeat", { ago: ago(seconds, i18n, now) })),
];

const waiting: Describe = ({ jobs, oldest }, { t, duration }) => [
  ifKnown(jobs, (count) => t("health.jobs", { count })),
  ifKnown(oldest, (seconds) => t("health.oldest", { long: duration(seconds * SECOND_MS) })),
];

const DESCRIPTIONS: Partial<Record<Check["kind"], Describe>> = {
  worker: heartbeat,
  beat: heartbeat,
  trainer: waiting,
  queue: waiting,
  disk: ({ free, total = 0, growth, days }, { t, bytes, relative }, now) => [
    ifKnown(free, (room) => t("health.free", { free: bytes(room), total: bytes(total) })),
    ifKnown(growth, (more) => (more > 0 ? t("health.growth", { bytes: bytes(more) }) : "")),
    ifKnown(days, (left) => t("health.full_in", { when: relative(now + left * DAY_MS, now) })),
  ],
  database: ({ bytes: size, connections, most = 0 }, { t, bytes }) => [
    ifKnown(size, bytes),
    ifKnown(connections, (count) => t("health.connections", { count, most })),
  ],
  redis: ({ bytes: size = 0, most }, { t, bytes }) => [
    ifKnown(most, (bound) => t("health.of", { used: bytes(size), most: bytes(bound) })) ?? bytes(size),
  ],
  backup: ({ age, bytes: size = 0 }, i18n, now) => [
    ifKnown(age, (seconds) => i18n.t("health.backup", { ago: ago(seconds, i18n, now), bytes: i18n.bytes(size) })),
  ],
  host: ({ machines, capacity = 0, age, browser_age: browser }, i18n, now) => [
    ifKnown(machines, (count) => i18n.t("health.machines", { count, most: capacity })),
    ifKnown(age, (seconds) => i18n.t("health.heard", { ago: ago(seconds, i18n, now) })),
    ifKnown(browser, (seconds) => i18n.t("health.browser", { ago: ago(seconds, i18n, now) })),
  ],
};

/** The words of one check; empty where it counts nothing. */
export function describeFigures({ kind, figures }: Check, i18n: I18n, now: number): string {
  const parts = Object.keys(figures).length === 0 ? [] : (DESCRIPTIONS[kind]?.(figures, i18n, now) ?? []);
  return parts.filter(Boolean).join(" · ");
}
