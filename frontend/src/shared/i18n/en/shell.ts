/** Messages of everything but the desk: sign-in, queue, episodes, replay, review, exports, preferences, commands. */
import type { Message } from "@/shared/i18n/messages";

export const shellMessages = {
  "commands.help": "Keyboard help",
  "commands.help.help": "Show every command with its key",
  "commands.palette": "Command palette",
  "commands.palette.help": "Find a command by its name and run it",
  "commands.palette.empty": "No command matches",
  "commands.search": "Search commands",
  "commands.unassigned": "no key",
  "scope.global": "Everywhere",
  "scope.queue": "Queue",
  "scope.desk": "Desk",
  "scope.takeover": "Takeover",
  "scope.replay": "Replay",
} as const satisfies Record<string, Message>;
