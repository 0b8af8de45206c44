/** Commands of a reviewer looking at an episode. */
import type { Command } from "@/shared/commands/command";

export const reviewCommands = {
  accept: { id: "review.accept", scope: "replay", name: "review.accept", help: "review.accept.help", keys: ["Shift+Enter"] },
  return: { id: "review.return", scope: "replay", name: "review.return", help: "review.return.help", keys: ["R"] },
  next: { id: "review.next", scope: "replay", name: "review.next", help: "review.next.help", keys: ["N"] },
} as const satisfies Record<string, Command>;
