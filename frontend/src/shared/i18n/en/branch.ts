/** Messages about attempts that begin at a state of an earlier one. */
import type { Message } from "@/shared/i18n/messages";

export const branchMessages = {
  "branch.steps": { one: "{count} step", other: "{count} steps" },
  "branch.warming": "Replaying the steps of an earlier attempt",
  "branch.warming.help": "The task begins where they lead: after {steps}.",
  "branch.reached": "This begins where an earlier attempt was: after {steps}.",
  "branch.missed": "This was to begin after {steps} of an earlier attempt and begins at the start instead: {reason}.",
  "branch.replay": "Begins after {steps} of an earlier attempt",
  "branch.replay.missed": "Was to begin after {steps} of an earlier attempt, and began at the start: {reason}",
  "branch.earlier": "The earlier attempt",
  "policies.state.begin": "Begin there",
  "policies.state.begin_of": "Have {task} begun before step {number}",
} as const satisfies Record<string, Message>;
