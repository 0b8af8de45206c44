/** Commands of the timeline of a recorded session. */
import type { Command } from "@/shared/commands/command";

const speech = <Verb extends string>(verb: Verb, keys: readonly string[], repeats = false) =>
  ({ id: `speech.${verb}`, scope: "replay", name: `speech.${verb}`, help: `speech.${verb}.help`, keys, repeats }) as const;

export const speechCommands = {
  play: speech("play", ["Shift+Space"]),
  next: speech("next", ["."], true),
  previous: speech("previous", [","], true),
  next_word: speech("next_word", ["Shift+ArrowRight"], true),
  previous_word: speech("previous_word", ["Shift+ArrowLeft"], true),
  zoom_in: speech("zoom_in", ["="], true),
  zoom_out: speech("zoom_out", ["-"], true),
  write: speech("write", ["T"]),
  split: speech("split", ["Shift+S"]),
  merge: speech("merge", ["M"]),
  assign: speech("assign", ["G"]),
  assign_here: speech("assign_here", ["Shift+G"]),
  redact: speech("redact", ["X"]),
  undo: speech("undo", ["Shift+Z"]),
} satisfies Record<string, Command>;
