/** What may be written where the caret stands: actions, directions, keys, texts used lately; pure. */

import type { Step } from "@/generated/vocabulary";
import { KEY_NAMES, MODIFIERS, NAMED_KEYS } from "@/generated/vocabulary";
import { ALWAYS } from "@/shared/actions/parse";
import { ALIASES, KINDS, type TypedKind } from "@/shared/actions/table";

import { placeAt, slotsOf, type Place } from "./call";

export interface Suggestion {
  readonly label: string;
  /** What is written instead of `from`…`to`, and where the caret goes, from its beginning. */
  readonly insert: string;
  readonly caret: number;
  readonly detail: string;
}

export interface Suggestions {
  readonly from: number;
  readonly to: number;
  readonly options: readonly Suggestion[];
}

export interface CompletionContext {
  readonly capabilities: readonly string[];
  readonly recentTexts: readonly string[];
  /** Names of the machine's apps, and of its tools. */
  readonly apps: readonly string[];
  readonly tools: readonly string[];
  /** The ids of a browser's open pages. */
  readonly pages: readonly string[];
  /** The names of the files that a page which asks for some may have. */
  readonly files: readonly string[];
  /** Paths that were named before, and those the machine shows. */
  readonly paths: readonly string[];
  /** Whole texts of the task and the screen, and single words of them. */
  readonly phrases: readonly string[];
  readonly words: readonly string[];
  /** What a tool wants, by its name: its arguments with nothing in them yet, as JSON. */
  readonly toolArguments: Readonly<Record<string, string>>;
}

/** A word is completed from so many of its characters on. */
const LEAST = 2;
/** So many suggestions at a time. */
const MOST = 50;

const CHOICES = {
  direction: ["up", "down", "left", "right"],
  button: ["left", "middle", "right"],
  any_button: ["left", "middle", "right", "back", "forward"],
  unit: ["pixels", "notches"],
} as const;

/** Types of arguments of which a suggestion completes only a part. The text behind the caret is kept. */
const FREE = new Set(["text", "path"]);

/** The suggestions at the caret; null where there are none. */
export function suggestionsAt(text: string, caret: number, context: CompletionContext): Suggestions | null {
  const place = placeAt(text, caret);
  if (place === null) return suggestActions(text, caret, context);
  const slot = place.slot === null ? undefined : place.slots[place.slot];
  const part = place.slot === null ? undefined : place.parts[place.slot];
  if (slot === undefined || part === undefined) return null;
  if (slot.type === "object") return suggestArguments(text, caret, place, context);
  const lead = /^\s*/.exec(text.slice(part.from, part.to))?.[0].length ?? 0;
  const from = Math.min(part.from + lead, caret);
  const written = text.slice(from, caret).replace(/^["']/, "");
  const behindCaret = FREE.has(slot.type) && /^["']/.test(text.slice(from, caret)) ? text.slice(caret, part.to).trimEnd().replace(/["']$/, "") : "";
  const values = valuesFor(slot.type, written, context).filter((value) => value.toLowerCase().startsWith(written.toLowerCase()));
  const options = [...new Set(values)]
    .filter((value) => value !== written)
    .slice(0, MOST)
    .map((value) => ({ label: value, ...insertion(value, text.slice(from, caret), behindCaret), detail: slot.field }));
  return options.length === 0 ? null : { from, to: part.to, options };
}

/** A value in the quotes that are written, with the text behind the caret unless the value ends with it. */
function insertion(value: string, before: string, behind: string): Pick<Suggestion, "insert" | "caret"> {
  const quote = before.startsWith("'") ? "'" : '"';
  const escaped = JSON.stringify(value).slice(1, -1);
  const body = quote + (quote === '"' ? escaped : escaped.replaceAll('\\"', '"').replaceAll("'", String.raw`\'`));
  if (behind === "" || body.endsWith(behind)) return { insert: body + quote, caret: body.length + 1 };
  return { insert: body + behind + quote, caret: body.length };
}

/** The arguments of the tool that is named before the caret, while nothing of them is written. */
function suggestArguments(text: string, caret: number, place: Place, { toolArguments }: CompletionContext): Suggestions | null {
  const [name, part] = [place.parts[0], place.slot === null ? undefined : place.parts[place.slot]];
  if (place.kind !== "call_tool" || name === undefined || part === undefined || text.slice(part.from, part.to).trim() !== "") return null;
  const insert = toolArguments[text.slice(name.from, name.to).trim().replaceAll(/^["']|["']$/g, "")];
  if (insert === undefined) return null;
  const hole = insert.indexOf('""');
  return { from: caret, to: part.to, options: [{ label: insert, insert, caret: hole < 0 ? insert.length : hole + 1, detail: "arguments" }] };
}

/** The words that may end a text whose last word was begun. */
function completedTexts(written: string, words: readonly string[]): string[] {
  const begun = /[^\s"'=(/]*$/.exec(written)?.[0] ?? "";
  if (begun.length < LEAST) return [];
  const before = written.slice(0, written.length - begun.length);
  return words.filter((word) => word.toLowerCase().startsWith(begun.toLowerCase())).map((word) => before + word);
}

/** The paths the steps named, the latest first. */
export function pathsNamed(steps: readonly Step[]): string[] {
  return [...new Set(steps.flatMap(({ action }) => ("path" in action ? [action.path] : [])).toReversed())];
}

function valuesFor(type: string, written: string, context: CompletionContext): readonly string[] {
  switch (type) {
    case "direction":
    case "button":
    case "any_button":
    case "unit":
      return CHOICES[type];
    case "key":
      return KEY_NAMES;
    case "keys": {
      const held = /^(.*[+\s])[^+\s]*$/.exec(written)?.[1] ?? "";
      return [...MODIFIERS.map((modifier) => `${held}${modifier}+`), ...NAMED_KEYS.map((key) => held + key)].filter(
        (value, index, all) => all.indexOf(value) === index && !MODIFIERS.some((modifier) => value === held + modifier),
      );
    }
    case "text":
      return [...context.recentTexts, ...context.phrases, ...completedTexts(written, [...context.paths, ...context.words])];
    case "app":
      return context.apps;
    case "tool":
      return context.tools;
    case "page":
      return context.pages;
    case "path":
      return context.paths;
    case "files":
      return context.files;
    default:
      return [];
  }
}

function suggestActions(text: string, caret: number, { capabilities }: CompletionContext): Suggestions | null {
  const written = /^\s*(\w*)$/.exec(text.slice(0, caret))?.[1];
  if (written === undefined) return null;
  const from = caret - written.length;
  const can = (kind: TypedKind) => ALWAYS.includes(kind) || capabilities.includes(kind);
  const kinds = KINDS.filter((kind) => can(kind) && matches(kind, written.toLowerCase()));
  const ranked = kinds.toSorted((one, other) => Number(other.startsWith(written)) - Number(one.startsWith(written)));
  const options = ranked.map((kind): Suggestion => {
    const slots = slotsOf(kind, true);
    const quoted = slots.length > 0 && ["text", "app", "page", "tool", "path", "files", "keys", "key", "direction"].includes(slots[0]?.type ?? "");
    const insert = `${kind}(${quoted ? '""' : ""})`;
    const caretAt = slots.length === 0 ? insert.length : kind.length + (quoted ? 2 : 1);
    return { label: kind, insert, caret: caretAt, detail: slots.map(({ field }) => field).join(", ") };
  });
  const to = text.slice(caret).trim() === "" ? text.length : caret;
  return options.length === 0 ? null : { from, to, options };
}

/** By its beginning, by the beginning of one of its words, or by another name it has. */
function matches(kind: TypedKind, written: string): boolean {
  if (kind.startsWith(written) || kind.split("_").some((word) => word.startsWith(written))) return true;
  return Object.entries(ALIASES).some(([alias, meant]) => meant === kind && alias.startsWith(written));
}
