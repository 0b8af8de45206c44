/** Messages of the trajectory browser, and of what exports are written as. */
import type { Message } from "@/shared/i18n/messages";

export const dataMessages = {
  "trajectories.title": "Search trajectories",
  "trajectories.found": { one: "{count} trajectory", other: "{count} trajectories" },
  "trajectories.narrowing": "What is searched for",
  "trajectories.search": "Search instructions, thoughts and actions",
  "trajectories.none": "Nothing is found",
  "trajectories.none.help": "Take a filter away, or search for other words. An episode is found seconds after it ended.",
  "trajectories.decisions": "Decisions",
  "trajectories.policies": "Policy",
  "trajectories.applications": "Application",
  "trajectories.any": "Any",
  "trajectories.more": "More",
  "trajectories.first": "Newest",
  "trajectories.save": "Keep this query",
  "trajectories.name": "Name",
  "trajectories.kept": "Kept queries",
  "trajectories.compare": "Compare",
  "trajectories.compare_one": "Compare attempts at: {task}",
  "exports.format": "Format",
  "exports.dialect": "Dialect",
  "exports.leave_out_missing": "leave out what has lost pictures",
  "exports.cancel": "Cancel",
  "exports.retry": "Try again",
  "exports.cancelled": "Cancelled",
  "exports.refused": { one: "{count} trajectory left out", other: "{count} trajectories left out" },
} as const satisfies Record<string, Message>;
