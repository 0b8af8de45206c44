/** Which terminal sessions there are, which one is looked at, and what was written into it; pure. */
import type { Step } from "@/generated/vocabulary";

/** The tab of single commands; no session can be called so. */
export const COMMANDS = " ";

const FIRST = "main";

/** The name of the n-th session a person opens. */
export function sessionName(number: number): string {
  return number === 1 ? FIRST : `${FIRST}-${number}`;
}

/** The sessions there are: the first one always, those heard of or opened by hand, those written to; each once. */
export function sessionsOf(steps: readonly Step[], known: readonly string[]): string[] {
  const written = steps.flatMap(({ action }) => (action.kind === "type_terminal" ? [action.session] : []));
  return [...new Set([FIRST, ...known, ...written])];
}

/** The first number whose session is not there yet. */
export function nextNumber(sessions: readonly string[]): number {
  let number = 2;
  while (sessions.includes(sessionName(number))) number += 1;
  return number;
}

/** The tab looked at: the one chosen, until a later act goes to another. */
export function tabOf(steps: readonly Step[], chosen: { readonly tab: string; readonly step: number } | null, fallback: string): string {
  const later = steps.slice(chosen?.step ?? 0).findLast(({ action }) => action.kind === "run_command" || action.kind === "type_terminal");
  if (later?.action.kind === "run_command") return COMMANDS;
  if (later?.action.kind === "type_terminal") return later.action.session;
  return chosen?.tab ?? fallback;
}

/** The lines written in a tab before, oldest first, each once in a row. */
export function historyOf(steps: readonly Step[], tab: string): string[] {
  const lines = steps.flatMap(({ action }) => {
    if (action.kind === "run_command") return tab === COMMANDS ? [action.command] : [];
    return action.kind === "type_terminal" && action.session === tab && /^[^\p{Cc}]+\n$/u.test(action.text) ? [action.text.slice(0, -1)] : [];
  });
  return lines.filter((line, index) => line !== lines[index - 1]);
}
