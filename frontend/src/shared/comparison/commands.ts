/** Commands of two attempts side by side, whoever made them. */
import type { Command } from "@/shared/commands/command";

const compare = <Verb extends string>(verb: Verb, keys: readonly string[], repeats = false) =>
  ({ id: `compare.${verb}`, scope: "compare", name: `compare.${verb}`, help: `compare.${verb}.help`, keys, repeats }) as const;

export const comparisonCommands = {
  next: compare("next", ["J", "ArrowDown", "ArrowRight"], true),
  previous: compare("previous", ["K", "ArrowUp", "ArrowLeft"], true),
  divergence: compare("divergence", ["D"]),
  after: compare("after", ["A"]),
} satisfies Record<string, Command>;
