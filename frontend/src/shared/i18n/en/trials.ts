/** Messages of the gate's attempts, seed by seed and side by side. */
import type { Message } from "@/shared/i18n/messages";

export const trialMessages = {
  "trials.attempts": "Attempts",
  "trials.attempts_of": "Attempts at {task}",
  "trials.seeds": "Attempts by seed",
  "trials.seed": "Seed",
  "trials.open": "Seed {seed}: both attempts side by side",
  "trials.solved_by": "Solved by",
  "trials.both": "both",
  "trials.neither": "neither",
  "trials.only_active": "only the active one",
  "trials.only_candidate": "only the candidate",
  "trials.solved": "solved",
  "trials.failed": "not solved",
  "trials.not_tried": "not tried",
  "trials.steps": { one: "{count} step", other: "{count} steps" },
  "trials.more": { one: "{count} more", other: "{count} more" },
  "trials.none": "There is no attempt at this task",
  "trials.comparison": "Side by side",
  "trials.at": "{task}, seed {seed}",
  "trials.side.active": "active",
  "trials.side.candidate": "candidate",
} as const satisfies Record<string, Message>;
