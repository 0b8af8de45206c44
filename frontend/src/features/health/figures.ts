/** What was counted of a part, in words. */
import type { Check } from "@/generated/api";
import type { I18n } from "@/shared/i18n/i18n";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

type Figures = Check["figures"];
type Words = (figures: Figures, i18n: I18n, now: number) => readonly (string | undefined)[];

const ago = (seconds: number, { relative }: I18n, now: number) => relative(now - seconds * SECOND_MS, now);

/** `say` of a number that was told; nothing of one that was not. */
const told = (number: number | undefined, say: (number: number) => string) => (number === undefined ? undefined : say(number));

const heartbeat: Words = ({ age }, i18n, now) => [
  told(age, (seconds) => i18n.t("health.heartbeat", { ago: ago(seconds, i18n, now) })),
];

const waiting: Words = ({ jobs, oldest }, { t, duration }) => [
  told(jobs, (count) => t("health.jobs", { count })),
  told(oldest, (seconds) => t("health.oldest", { long: duration(seconds * SECOND_MS) })),
];

const WORDS: Partial<Record<Check["kind"], Words>> = {
  worker: heartbeat,
  beat: heartbeat,
  trainer: waiting,
  queue: waiting,
  disk: ({ free, total = 0, growth, days }, { t, bytes, relative }, now) => [
    told(free, (room) => t("health.free", { free: bytes(room), total: bytes(total) })),
    told(growth, (more) => (more > 0 ? t("health.growth", { bytes: bytes(more) }) : "")),
    told(days, (left) => t("health.full_in", { when: relative(now + left * DAY_MS, now) })),
  ],
  database: ({ bytes: size, connections, most = 0 }, { t, bytes }) => [
    told(size, bytes),
    told(connections, (count) => t("health.connections", { count, most })),
  ],
  redis: ({ bytes: size = 0, most }, { t, bytes }) => [
    told(most, (bound) => t("health.of", { used: bytes(size), most: bytes(bound) })) ?? bytes(size),
  ],
  backup: ({ age, bytes: size = 0 }, i18n, now) => [
    told(age, (seconds) => i18n.t("health.backup", { ago: ago(seconds, i18n, now), bytes: i18n.bytes(size) })),
  ],
  host: ({ machines, capacity = 0, age }, i18n, now) => [
    told(machines, (count) => i18n.t("health.machines", { count, most: capacity })),
    told(age, (seconds) => i18n.t("health.heard", { ago: ago(seconds, i18n, now) })),
  ],
};

/** The words of one check; empty where it counts nothing. */
export function figuresOf({ kind, figures }: Check, i18n: I18n, now: number): string {
  const said = Object.keys(figures).length === 0 ? [] : (WORDS[kind]?.(figures, i18n, now) ?? []);
  return said.filter(Boolean).join(" · ");
}
