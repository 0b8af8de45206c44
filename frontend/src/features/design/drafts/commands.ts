/** Commands of the page of task drafts. */
import type { Command } from "@/shared/commands/command";

const draft = <Verb extends string>(verb: Verb, keys: readonly string[]) =>
  ({ id: `drafts.${verb}`, scope: "drafts", name: `drafts.${verb}`, help: `drafts.${verb}.help`, keys }) as const;

export const draftCommands = {
  next: { ...draft("next", ["J", "ArrowDown"]), repeats: true },
  previous: { ...draft("previous", ["K", "ArrowUp"]), repeats: true },
  choose: draft("choose", ["X"]),
  accept: draft("accept", ["A"]),
  reject: draft("reject", ["R"]),
  edit: draft("edit", ["E"]),
} satisfies Record<string, Command>;
