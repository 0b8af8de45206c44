/** What was counted of a part, in words. */
import type { Check } from "@/generated/api";
import type { I18n } from "@/shared/i18n/i18n";

const SECOND_MS = 1_000;
const DAY_MS = 86_400_000;

/** The words of one check; empty where it counts nothing. */
export function figuresOf({ kind, figures }: Check, { t, bytes, duration, relative }: I18n, now: number): string {
  const ago = (seconds: number) => relative(now - seconds * SECOND_MS, now);
  const { age, free, total, growth, days, jobs, oldest, most, connections, machines, capacity, bytes: size } = figures;
  const said: string[] = [];
  if ((kind === "worker" || kind === "beat") && age !== undefined) said.push(t("health.heartbeat", { ago: ago(age) }));
  if (kind === "queue" && jobs !== undefined) {
    said.push(t("health.jobs", { count: jobs }));
    if (oldest !== undefined) said.push(t("health.oldest", { long: duration(oldest * SECOND_MS) }));
  }
  if (kind === "disk" && free !== undefined && total !== undefined) {
    said.push(t("health.free", { free: bytes(free), total: bytes(total) }));
    if (growth !== undefined && growth > 0) said.push(t("health.growth", { bytes: bytes(growth) }));
    if (days !== undefined) said.push(t("health.full_in", { when: relative(now + days * DAY_MS, now) }));
  }
  if (kind === "database" && size !== undefined) {
    said.push(bytes(size));
    if (connections !== undefined && most !== undefined) said.push(t("health.connections", { count: connections, most }));
  }
  if (kind === "redis" && size !== undefined) {
    said.push(most === undefined ? bytes(size) : t("health.of", { used: bytes(size), most: bytes(most) }));
  }
  if (kind === "backup" && age !== undefined) said.push(t("health.backup", { ago: ago(age), bytes: bytes(size ?? 0) }));
  if (kind === "host" && machines !== undefined && capacity !== undefined) {
    said.push(t("health.machines", { count: machines, most: capacity }));
    if (age !== undefined) said.push(t("health.heard", { ago: ago(age) }));
  }
  return said.join(" · ");
}
