/** Where the caret stands in a call that is being written: which action, which argument; pure. */

import type { Point } from "@/generated/vocabulary";
import { argumentsOf, isOptional, kindOfName, type Argument, type ArgumentType, type TypedKind } from "@/shared/actions/table";
import { tokenize, type Token } from "@/shared/actions/tokens";

/** One place between commas. A point takes two of them. */
interface Slot {
  readonly field: string;
  readonly type: ArgumentType;
  /** Slots of one pair of coordinates share it; null where the slot is no coordinate. */
  readonly pair: number | null;
  readonly optional: boolean;
}

export interface Place {
  readonly kind: TypedKind;
  readonly slots: readonly Slot[];
  /** The slot the caret is in; null behind the closing bracket or behind too many commas. */
  readonly slot: number | null;
  /** What stands in each slot that was begun. */
  readonly parts: readonly { readonly from: number; readonly to: number }[];
}

/** Where in a call the caret stands; null before the opening bracket. */
export function placeAt(text: string, caret: number): Place | null {
  const [name, open, ...rest] = tokenize(text);
  const kind = name?.type === "word" ? kindOfName(name.text) : null;
  if (kind === null || open?.text !== "(" || caret < open.to) return null;
  const parts = partsOf(text, open, rest);
  const first = rest[0];
  const slots = slotsOf(kind, first === undefined || first.type === "number" || first.type === "mark");
  const index = parts.findIndex(({ from, to }) => caret >= from && caret <= to);
  return { kind, slots, slot: index >= 0 && index < slots.length ? index : null, parts };
}

function partsOf(text: string, open: Token, tokens: readonly Token[]): { from: number; to: number }[] {
  const parts = [];
  let from = open.to;
  for (const token of tokens) {
    if (token.text !== "," && token.text !== ")") continue;
    parts.push({ from, to: token.from });
    if (token.text === ")") return parts;
    from = token.to;
  }
  return [...parts, { from, to: text.length }];
}

/** The slots of a call; `pointed` says whether an optional point is (or may still be) written. */
export function slotsOf(kind: TypedKind, pointed: boolean): Slot[] {
  let pairs = 0;
  return argumentsOf(kind).flatMap((argument: Argument): Slot[] => {
    const { field, type } = argument;
    const optional = isOptional(argument);
    if (type === "x") return [{ field, type, pair: pairs, optional }];
    if (type === "y") return [{ field, type, pair: pairs++, optional }];
    if (type !== "point") return [{ field, type, pair: null, optional }];
    if (optional && !pointed) return [];
    const pair = pairs++;
    const prefix = field === "point" ? "" : `${field}.`;
    return [
      { field: `${prefix}x`, type: "x", pair, optional },
      { field: `${prefix}y`, type: "y", pair, optional },
    ];
  });
}

/** A text and where the caret stands in it. */
export interface Written {
  readonly text: string;
  readonly caret: number;
}

/** The text with a pair of coordinates written where the caret stands; null where it stands in none. */
export function insertPoint(text: string, caret: number, { x, y }: Point): Written | null {
  const place = placeAt(text, caret);
  const pair = place?.slot == null ? null : (place.slots[place.slot]?.pair ?? null);
  if (place === null || pair === null) return null;
  const first = place.slots.findIndex((slot) => slot.pair === pair);
  const { from, to } = extentOf(text, place, first);
  const before = `${text.slice(0, from)}${first === 0 ? "" : " "}${x}, ${y}`;
  return completed(before, text.slice(to), place.slots.slice(first + 2));
}

/** From where to where a pair stands, of which the second number may be missing. */
function extentOf(text: string, { parts }: Place, first: number): { from: number; to: number } {
  const [one, other] = [parts[first], parts[first + 1]];
  const from = one?.from ?? text.length;
  const isCoordinate = other !== undefined && /^\s*\d*\s*$/.test(text.slice(other.from, other.to));
  return { from, to: (isCoordinate ? other.to : one?.to) ?? text.length };
}

/** Goes on to the next pair, or closes the call where nothing more must be written. */
function completed(before: string, rest: string, following: readonly Slot[]): Written {
  const nextIsPair = following[0]?.pair != null;
  if (nextIsPair && rest.trimStart().startsWith(",")) {
    return { text: before + rest, caret: before.length + rest.indexOf(",") + 1 };
  }
  if (nextIsPair) return { text: `${before}, ${rest}`, caret: before.length + 2 };
  const closes = rest.trim() === "" && following.every(({ optional }) => optional);
  return { text: before + (closes ? ")" : rest), caret: before.length };
}
