/** What of a call that is being written the policy could continue: its text, or what it does; pure. */

import type { Action } from "@/generated/vocabulary";

import { placeAt } from "./call";
import type { Question } from "./use-continuation";

export interface HalfWritten {
  /** What stands before the caret of the part that is continued. */
  readonly text: string;
  readonly question: Question;
}

/** The part before the caret that can be continued; null where there is none, or something follows it. */
export function halfWritten(command: string, caret: number, thought: string): HalfWritten | null {
  const place = placeAt(command, caret);
  if (place === null) return halfWrittenName(command, caret, thought);
  const part = place.slot === null ? undefined : place.parts[place.slot];
  if (place.slot !== 0 || part === undefined) return null;
  const written = /^\s*["']([^"'\\]*)$/.exec(command.slice(part.from, caret))?.[1];
  if (written === undefined || !/^["']?\s*\)?\s*$/.test(command.slice(caret))) return null;
  const action = actionOf(place.kind, written);
  return action === null ? null : { text: written, question: { part: "action", thought, action } };
}

/** Nothing but the beginning of a call: the thought says which. */
function halfWrittenName(command: string, caret: number, thought: string): HalfWritten | null {
  const begun = caret === command.length && thought.trim() !== "" && /^\w+$/.test(command);
  return begun ? { text: command, question: { part: "action", thought, action: null } } : null;
}

function actionOf(kind: string, text: string): Action | null {
  if (kind === "type_text") return { kind, text };
  if (kind === "run_command") return { kind, command: text, timeout: 30 };
  return kind === "type_terminal" ? { kind, session: "main", text } : null;
}
