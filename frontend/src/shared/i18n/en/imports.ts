/** Messages of what takes trajectories in. */
import type { Message } from "@/shared/i18n/messages";

export const importMessages = {
  "imports.title": "Import",
  "imports.help":
    "A zip or tar of an export, or lines: canonical, ATIF 1.8 or AgentNet, with the pictures they name. What comes in is reviewed and exported like everything else.",
  "imports.file": "File",
  "imports.choose": "Choose one, or drop it here",
  "imports.pool": "Pool",
  "imports.pool.own": "one named after the file",
  "imports.start": "Import",
  "imports.none": "No imports yet",
  "imports.none.help": "Rows that cannot come in are listed with the reason; nothing comes in twice.",
  "imports.column.when": "Asked for",
  "imports.column.file": "File and pool",
  "imports.column.status": "Status",
  "imports.column.imported": "Came in",
  "imports.column.known": "Were here",
  "imports.column.refused": "Refused",
  "imports.change": "Change",
  "imports.refused.rows": "Rows of {name} that did not come in",
  "imports.more": "More",
  "imports.progress": "Progress",
  "imports.queued": "Queued",
  "imports.done": "Done",
  "imports.failed": "Failed",
  "imports.cancelled": "Cancelled",
  "imports.cancel": "Cancel",
  "imports.retry": "Go on",
} as const satisfies Record<string, Message>;
