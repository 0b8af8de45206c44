/** Where the caret stands in a call that is being written: which action, which argument; pure. */

import type { Point } from "@/generated/vocabulary";
import { argumentsOf, isOptional, kindNamed, type Argument, type ArgumentType, type TypedKind } from "@/shared/actions/table";
import { tokenize, type Token } from "@/shared/actions/tokens";

/** One place between commas. A point takes two of them. */
export interface Slot {
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
  const kind = name?.type === "word" ? kindNamed(name.text) : null;
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

/** The text with a pair of coordinates written where the caret stands; null where it stands in none. */
export function insertPoint(text: string, caret: number, point: Point): { text: string; caret: number } | null {
  const place = placeAt(text, caret);
  const pair = place?.slot == null ? null : (place.slots[place.slot]?.pair ?? null);
  if (place === null || pair === null) return null;
  const first = place.slots.findIndex((slot) => slot.pair === pair);
  const from = place.parts[first]?.from ?? text.length;
  const second = place.parts[first + 1];
  const isCoordinate = second !== undefined && /^\s*\d*\s*$/.test(text.slice(second.from, second.to));
  const last = isCoordinate ? second : place.parts[first];
  const to = last?.to ?? text.length;
  const lead = first === 0 ? "" : " ";
  const written = `${lead}${point.x}, ${point.y}`;
  const more = place.slots.length > first + 2 && place.slots[first + 2]?.pair !== null;
  const rest = text.slice(to);
  const tail = more && !rest.trimStart().startsWith(",") ? ", " : "";
  const whole = place.slots.slice(first + 2).every(({ optional }) => optional);
  const closed = tail === "" && rest.trim() === "" && whole ? ")" : "";
  const before = text.slice(0, from) + written;
  const next = more && tail === "" ? rest.length - rest.trimStart().length + 1 : tail.length;
  return { text: before + tail + (closed || rest), caret: before.length + next };
}
