/** Settings of pools compared: what was changed of one, and in what several differ. */
import type { PlainKey } from "@/shared/i18n/i18n";

import type { Settings } from "./api";

type Name = keyof Settings;

const same = (one: unknown, other: unknown) => JSON.stringify(one) === JSON.stringify(other);

/** What differs from how the pool was. */
export function changesOf(before: Settings, after: Settings): Partial<Settings> {
  const names = Object.keys(after) as Name[];
  return Object.fromEntries(names.filter((name) => !same(before[name], after[name])).map((name) => [name, after[name]]));
}

/** What several pools can be given together, by what it is called; a name and a description are each pool's own. */
const SHARED = {
  instructions: "pools.instructions",
  platform: "pools.platform",
  image: "pools.image",
  candidates: "pools.candidates",
  screenshot_format: "pools.screenshots",
  practice: "pools.practice",
  record: "pools.record",
  speculation: "pools.speculation",
  takes_recordings: "pools.takes_recordings",
  max_steps: "pools.max_steps",
  minutes: "pools.minutes",
  overlap: "pools.overlap",
  gold_percent: "pools.gold_percent",
  review_mode: "pools.review",
  review_percent: "pools.review_percent",
  reviewers: "pools.reviewers",
  lease_minutes: "pools.lease_minutes",
  pause_hours: "pools.pause_hours",
  thought_required: "pools.thought_required",
  thought_later: "pools.thought_later",
  text_continuation: "pools.text_continuation",
  policy_budget: "pools.policy_budget",
  unattended_safety_checks: "pools.unattended_safety_checks",
  priority: "pools.priority",
  skills: "pools.skills",
  open_to_all: "pools.open_to_all",
  paused: "pools.paused",
  hours: "pools.hours.on",
  consent: "pools.consent",
} as const satisfies Record<Exclude<Name, "name" | "description">, PlainKey>;

/** What these pools have differently, by what it is called. */
export function differencesOf(all: readonly Settings[]): PlainKey[] {
  const [first, ...rest] = all;
  if (first === undefined) return [];
  const names = Object.keys(SHARED) as (keyof typeof SHARED)[];
  return names.filter((name) => rest.some((other) => !same(first[name], other[name]))).map((name) => SHARED[name]);
}
