/** Messages of the home page. */
import type { Message } from "@/shared/i18n/messages";

export const homeMessages = {
  "global.home": "Home",
  "global.home.help": "Go to the list of what needs you",

  "home.needs_you": "Needs you",
  "home.nothing": "Nothing needs you",
  "home.last_day": "Last 24 hours",
  "home.tone.danger": "Urgent",
  "home.tone.warn": "Soon",
  "home.tone.info": "Waiting",

  "home.help": "{name} asks for help",
  "home.more_help": { one: "{count} more session asks for help", other: "{count} more sessions ask for help" },
  "home.reviews": { one: "{count} episode waits for your review", other: "{count} episodes wait for your review" },
  "home.reviews_many": { other: "More than {count} episodes wait for your review" },
  "home.pool_empty": "{name} has no waiting tasks left",
  "home.pool_dry": { one: "{name} has {count} waiting task left", other: "{name} has {count} waiting tasks left" },
  "home.pool_pace": { one: "{count} was finished in the last 24 hours", other: "{count} were finished in the last 24 hours" },
  "home.part_down": "{name} does not work",
  "home.part_warns": "{name} needs a look",
  "home.health_unknown": "No health check for several minutes",
  "home.health_unknown.help": "The worker or the scheduler is not running.",
  "home.policy_overridden": "{name} is overridden more than before",
  "home.policy_rates": { one: "From {before} to {after} of {count} decision in the last 6 hours", other: "From {before} to {after} of {count} decisions in the last 6 hours" },
  "home.policy_degraded": "A probe found a problem with {name}",
  "home.gate_passed": "{name} passed the gate of {pool} and can be promoted",
  "home.gate_shut": "{name} did not pass the gate of {pool}",
  "home.cycle": "Cycle {number} of {name} failed",
  "home.job.export": "An export that {name} asked for failed",
  "home.job.import": "The import of {name} failed",
  "home.job.probe": "The probe of {name} failed",
  "home.job.judge": "A judge run in {name} failed",
  "home.evaluation": "The evaluation {name} failed",

  "home.no_acts": "No acts in the last 24 hours",
  "home.acts": "Acts",
  "home.acts_per_hour": "Acts per hour",
  "home.acts_total": { one: "{count} act", other: "{count} acts" },
  "home.override_total": { one: "{percent} of {count} decision", other: "{percent} of {count} decisions" },
} as const satisfies Record<string, Message>;
