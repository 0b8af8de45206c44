/** Commands of the replay view. */
import type { Command } from "@/shared/commands/command";

const replay = <Verb extends string>(verb: Verb, keys: readonly string[], repeats = false) =>
  ({ id: `replay.${verb}`, scope: "replay", name: `replay.${verb}`, help: `replay.${verb}.help`, keys, repeats }) as const;

export const replayCommands = {
  play: replay("play", ["Space"]),
  next: replay("next", ["ArrowRight", "J"], true),
  previous: replay("previous", ["ArrowLeft", "K"], true),
  first: replay("first", ["Home"]),
  last: replay("last", ["End"]),
  after: replay("after", ["A"]),
  video: replay("video", ["V"]),
  faster: replay("faster", ["]"]),
  slower: replay("slower", ["["]),
  prompt: replay("prompt", ["Shift+P"]),
} satisfies Record<string, Command>;
