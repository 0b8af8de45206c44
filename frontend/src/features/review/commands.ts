/** Commands of reviewing: of who looks at an episode, of the queue, and of who says which of two attempts counts. */
import type { StepVerdict } from "@/generated/vocabulary";
import type { Command } from "@/shared/commands/command";

const review = <Verb extends string>(verb: Verb, keys: readonly string[]) =>
  ({ id: `review.${verb}`, scope: "replay", name: `review.${verb}`, help: `review.${verb}.help`, keys }) as const;

const compare = <Verb extends string>(verb: Verb, keys: readonly string[]) =>
  ({ id: `compare.${verb}`, scope: "compare", name: `compare.${verb}`, help: `compare.${verb}.help`, keys }) as const;

export const verdictCommands = {
  right: review("right", ["1"]),
  wrong_element: review("wrong_element", ["2"]),
  wrong_action: review("wrong_action", ["3"]),
  redundant: review("redundant", ["4"]),
  hallucinated: review("hallucinated", ["5"]),
} satisfies Record<StepVerdict, Command>;

export const VERDICTS = Object.keys(verdictCommands) as StepVerdict[];

export const reviewCommands = {
  // Key maps store these two ids.
  clearVerdict: { ...review("clear_verdict", ["0"]), id: "review.unsay" },
  comment: review("comment", ["C"]),
  correct: { ...review("correct", ["E"]), id: "review.mend" },
  begin: review("begin", ["B"]),
  end: review("end", ["L"]),
  split: review("split", ["S"]),
  uncut: review("uncut", ["Z"]),
  accept: review("accept", ["Shift+Enter"]),
  return: review("return", ["R"]),
  reject: review("reject", ["Shift+R"]),
  resubmit: review("resubmit", ["Shift+H"]),
  next: review("next", ["Enter", "N"]),
  previous: review("previous", ["P"]),
} satisfies Record<string, Command>;

export const compareCommands = {
  reason: compare("reason", ["C"]),
  one: compare("one", ["1"]),
  other: compare("other", ["2"]),
} satisfies Record<string, Command>;
