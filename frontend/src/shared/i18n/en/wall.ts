/** Messages of the wall of live sessions. */
import type { Message } from "@/shared/i18n/messages";

export const wallMessages = {
  "global.wall": "Live",
  "global.wall.help": "Go to the live sessions",

  "wall.title": "Live",
  "wall.list": "Live sessions",
  "wall.sessions": { one: "{count} live session", other: "{count} live sessions" },
  "wall.waiting": { one: "{count} waits for help", other: "{count} wait for help" },
  "wall.pause": "Pause pictures",
  "wall.resume": "Resume pictures",
  "wall.none": "No live sessions",
  "wall.none.help": "When an annotator works on a task, their screen appears here.",
  "wall.help": "Asks for help",
  "wall.away": "Page closed",
  "wall.steps": { one: "{count} step", other: "{count} steps" },
  "wall.override": "override",
  "wall.screen_of": "The screen of {name}",
  "wall.picture_comes": "Picture is loading",
  "wall.no_picture": "No picture now",
} as const satisfies Record<string, Message>;
