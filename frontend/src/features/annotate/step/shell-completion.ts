/** A command line that the machine's own shell completes: where it stands in a call, and what its answer writes there. */
import type { CommandCompletion } from "@/generated/api";
import { request } from "@/shared/api/http";
import { tokenize } from "@/shared/actions/tokens";

import { placeAt } from "./call";
import type { Suggestion } from "./completion";

/** The command line at the caret of a call. */
export interface CommandPlace {
  /** Up to the caret; of several lines the last one. */
  readonly line: string;
  /** What is written before that line, and behind the caret. */
  readonly before: string;
  readonly after: string;
  /** The terminal it is for; null for a command that is run by itself. */
  readonly session: string | null;
  /** Where the argument stands in the call. */
  readonly from: number;
  readonly to: number;
}

/** The longest line that is asked for (characters), as the server has it. */
const MAX_LINE = 4_000;

/** What the machine's shell offers at the end of a line; null where nothing is to be had. */
export async function completeCommand(episodeId: string, line: string, session: string | null): Promise<CommandCompletion | null> {
  if (line.trim() === "" || line.length > MAX_LINE) return null;
  try {
    const answer = await request("POST", `/episodes/${encodeURIComponent(episodeId)}/completions`, { line, session });
    return answer.options.length > 0 || answer.more ? answer : null;
  } catch {
    return null; // the person can go on typing
  }
}

/** The command line at the caret; null where none is written. */
export function commandAt(text: string, caret: number): CommandPlace | null {
  const place = placeAt(text, caret);
  if (place?.slot !== 0 || (place.kind !== "run_command" && place.kind !== "type_terminal")) return null;
  const [part, second] = place.parts;
  if (part === undefined) return null;
  const from = part.from + text.slice(part.from).search(/\S|$/);
  const begun = quotedText(text.slice(from, caret));
  if (begun === null) return null;
  const after = textIn(text.slice(from, part.to)).slice(begun.length);
  const lineStart = begun.lastIndexOf("\n") + 1;
  const session = place.kind === "run_command" ? null : sessionOf(text, second);
  return { line: begun.slice(lineStart), before: begun.slice(0, lineStart), after, session, from, to: part.to };
}

/** What a quoted text that is not closed yet means; null where it is none. */
function quotedText(written: string): string | null {
  const quote = written[0] ?? "";
  if (quote !== '"' && quote !== "'") return null;
  const [begun, behind] = tokenize(written + quote);
  return typeof begun?.value === "string" && behind === undefined ? begun.value : null;
}

/** What a quoted text means, whether it is closed or not. */
function textIn(written: string): string {
  const value = tokenize(written)[0]?.value;
  return typeof value === "string" ? value : (quotedText(written) ?? "");
}

function sessionOf(text: string, part: { readonly from: number; readonly to: number } | undefined): string {
  const named = part === undefined ? null : tokenize(text.slice(part.from, part.to))[0]?.value;
  return typeof named === "string" ? named : "main";
}

/** The line with each option in its place. */
export function completedLines(line: string, { start, options }: Pick<CommandCompletion, "start" | "options">): string[] {
  const beginning = Array.from(line).slice(0, start).join(""); // the server counts code points
  return options.map((option) => beginning + option);
}

/** What the shell's answer may write at a place. */
export function shellSuggestions({ line, before, after }: CommandPlace, answer: CommandCompletion): Suggestion[] {
  return completedLines(line, answer).map((completed, index) => {
    const caret = JSON.stringify(before + completed).length - 1;
    return { label: answer.options[index] ?? completed, insert: JSON.stringify(before + completed + after), caret, detail: "shell" };
  });
}

/** The beginning that all of them have. */
export function commonBeginning(texts: readonly string[]): string {
  const [first = "", ...others] = texts;
  let length = first.length;
  for (const other of others) while (!other.startsWith(first.slice(0, length))) length -= 1;
  return first.slice(0, length);
}
