/** Commands of the queue page. */
import type { Command } from "@/shared/commands/command";

export const queueCommands = {
  next: { id: "queue.next", scope: "queue", name: "queue.next", help: "queue.next.help", keys: ["N"] },
  resume: { id: "queue.resume", scope: "queue", name: "queue.resume", help: "queue.resume.help", keys: ["Enter"] },
  practice: { id: "queue.practice", scope: "queue", name: "queue.practice", help: "queue.practice.help", keys: ["P"] },
} as const satisfies Record<string, Command>;
