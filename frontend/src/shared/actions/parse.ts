/** Reads the call a person wrote into an action; never evaluates anything. */

import { tokenize, type Token } from "./tokens";
import { canonicalKey, parseHotkey } from "./keys";
import { argumentsOf, isOptional, kindOfName, type Argument, type TypedAction, type TypedKind } from "./table";

type ErrorCode =
  | "empty"
  | "unknown_action"
  | "not_a_call"
  | "bad_token"
  | "missing_argument"
  | "too_many_arguments"
  | "unknown_argument"
  | "wrong_type"
  | "out_of_range"
  | "off_screen"
  | "unknown_key"
  | "unknown_direction"
  | "unknown_button"
  | "unsupported_action";

export interface ParseFailure {
  readonly ok: false;
  readonly code: ErrorCode;
  /** What the message names: an argument, a word. */
  readonly subject: string;
  /** Where in the text the trouble lies. */
  readonly from: number;
  readonly to: number;
}

type ParseResult = { readonly ok: true; readonly action: TypedAction } | ParseFailure;

/** What the machine at hand allows; without it any well-formed action passes. */
export interface Limits {
  readonly width: number;
  readonly height: number;
  readonly capabilities: readonly string[];
}

class ParseError extends Error {
  constructor(
    readonly code: ErrorCode,
    readonly subject: string,
    readonly at: Pick<Token, "from" | "to">,
  ) {
    super(code);
  }
}

/** The action a text means, or why it means none. */
export function parseAction(text: string, limits?: Limits): ParseResult {
  try {
    return { ok: true, action: read(text, limits) };
  } catch (error) {
    if (!(error instanceof ParseError)) throw error;
    return { ok: false, code: error.code, subject: error.subject, from: error.at.from, to: error.at.to };
  }
}

function read(text: string, limits: Limits | undefined): TypedAction {
  const whole = { from: 0, to: text.length };
  if (text.trim() === "") throw new ParseError("empty", "", whole);
  const tokens = tokenize(text);
  const bad = tokens.find((token) => token.type === "bad");
  if (bad) throw new ParseError("bad_token", bad.text, bad);
  const [name = { ...whole, type: "bad", text: "" }, open, ...rest] = tokens;
  if (name.type !== "word") throw new ParseError("not_a_call", "", name);
  const kind = kindOfName(name.text);
  if (kind === null) throw new ParseError("unknown_action", name.text, name);
  if (limits && !allowed(kind, limits.capabilities)) throw new ParseError("unsupported_action", kind, name);
  if (open?.text !== "(") throw new ParseError("not_a_call", kind, name);
  const close = rest.pop() ?? open;
  if (close.text !== ")") throw new ParseError("not_a_call", kind, close);
  return build(kind, splitArguments(rest, open), close, limits);
}

/** What every machine allows, since it speaks to the episode and not to the machine. */
export const ALWAYS: readonly TypedKind[] = ["finish", "call_user", "infeasible"];

function allowed(kind: TypedKind, capabilities: readonly string[]): boolean {
  return ALWAYS.includes(kind) || capabilities.includes(kind);
}

interface GivenArgument {
  readonly name: Token | null;
  readonly value: Token;
}

/** The arguments between the brackets: values, some of them named, with a comma between each two. */
function splitArguments(tokens: readonly Token[], open: Token): GivenArgument[] {
  const given: GivenArgument[] = [];
  let rest = tokens;
  while (rest.length > 0) {
    const { argument, length } = argumentAt(rest, open);
    given.push(argument);
    const comma = rest[length];
    if (comma !== undefined && comma.text !== ",") throw new ParseError("bad_token", comma.text, comma);
    rest = rest.slice(length + 1);
  }
  return given;
}

/** The argument that `tokens` begin with, and of how many tokens it is made. */
function argumentAt(tokens: readonly Token[], open: Token): { argument: GivenArgument; length: number } {
  const [first = open, equals, second = open] = tokens;
  const named = first.type === "word" && equals?.text === "=";
  const value = named ? second : first;
  if (value.type === "mark") throw new ParseError("bad_token", value.text, value);
  return { argument: { name: named ? first : null, value }, length: named ? 3 : 1 };
}

/** Names other grammars give these arguments. */
const ARGUMENT_ALIASES: Readonly<Record<string, readonly string[]>> = {
  text: ["content"],
  reason: ["content"],
  keys: ["key"],
  seconds: ["time"],
  answer: ["content"],
  url: ["content"],
  name: ["app_name"],
};

function build(kind: TypedKind, given: readonly GivenArgument[], close: Token, limits: Limits | undefined): TypedAction {
  const table = argumentsOf(kind);
  const positional = given.filter(({ name }) => name === null).map(({ value }) => value);
  const fields: Record<string, unknown> = { kind };
  const used = new Set<GivenArgument>();
  for (const argument of table) {
    const named = given.find(({ name }) => name !== null && matchesName(argument, name.text));
    if (named) {
      used.add(named);
      fields[argument.field] = valueOf(argument, [named.value], limits);
    } else {
      fields[argument.field] = fromPosition(argument, positional, close, limits);
    }
  }
  const stray = given.find((one) => one.name !== null && !used.has(one));
  if (stray?.name) throw new ParseError("unknown_argument", stray.name.text, stray.name);
  const extra = positional[0];
  if (extra) throw new ParseError("too_many_arguments", kind, extra);
  return fields as unknown as TypedAction;
}

function matchesName(argument: Argument, name: string): boolean {
  return argument.field === name || (ARGUMENT_ALIASES[argument.field]?.includes(name) ?? false);
}

/** Takes the next positional values for an argument off the front of `positional`. */
function fromPosition(argument: Argument, positional: Token[], close: Token, limits: Limits | undefined): unknown {
  const count = argument.type === "point" ? 2 : 1;
  const absent = positional[0] === undefined || (argument.type === "point" && positional[0].type !== "number");
  if (absent && isOptional(argument)) return argument.fallback;
  const values = positional.splice(0, count);
  if (values.length < count) throw new ParseError("missing_argument", argument.field, close);
  return valueOf(argument, values, limits);
}

function valueOf(argument: Argument, tokens: readonly Token[], limits: Limits | undefined): unknown {
  const [first, second] = tokens;
  if (first === undefined) throw new RangeError("an argument without a token");
  switch (argument.type) {
    case "x":
      return pixel(argument, first, limits?.width);
    case "y":
      return pixel(argument, first, limits?.height);
    case "point":
      if (second === undefined) throw new ParseError("wrong_type", argument.field, first);
      return { x: pixel(argument, first, limits?.width), y: pixel(argument, second, limits?.height) };
    case "points":
      return path(argument, first, limits);
    case "integer":
    case "number":
      return numeric(argument, first);
    case "object":
      if (first.type !== "object") throw new ParseError("wrong_type", argument.field, first);
      return first.value;
    default:
      return fromText(argument, first);
  }
}

const MAX_PIXEL = 32_767;

function pixel(argument: Argument, token: Token, size = MAX_PIXEL + 1): number {
  const value = numeric({ ...argument, type: "integer", least: 0 }, token);
  if (value >= size) throw new ParseError("off_screen", String(value), token);
  return value;
}

function numeric(argument: Argument, token: Token): number {
  const value = token.type === "number" ? Number(token.value) : NaN;
  if (Number.isNaN(value)) throw new ParseError("wrong_type", argument.field, token);
  if (argument.type === "integer" && !Number.isInteger(value)) throw new ParseError("wrong_type", argument.field, token);
  const { least = -Infinity, most = Infinity } = argument;
  if (value < least || value > most) throw new ParseError("out_of_range", argument.field, token);
  return value;
}

const DIRECTIONS: readonly string[] = ["up", "down", "left", "right"];
const BUTTONS: readonly string[] = ["left", "middle", "right"];
const ANY_BUTTONS: readonly string[] = [...BUTTONS, "back", "forward"];
const UNITS: readonly string[] = ["pixels", "notches"];
const MAX_POINTS = 64;
const MAX_KEYS = 5;

function fromText(argument: Argument, token: Token): unknown {
  if (token.type !== "text" || typeof token.value !== "string") throw new ParseError("wrong_type", argument.field, token);
  const text = token.value;
  switch (argument.type) {
    case "keys":
      return hotkey(text, token);
    case "files":
      return text.trim() === "" ? [] : text.split("|").map((name) => name.trim());
    case "key":
      return canonicalKey(text) ?? fail("unknown_key", text, token);
    case "direction":
      return DIRECTIONS.includes(text) ? text : fail("unknown_direction", text, token);
    case "any_button":
      return ANY_BUTTONS.includes(text) ? text : fail("unknown_button", text, token);
    case "unit":
      return UNITS.includes(text) ? text : fail("wrong_type", argument.field, token);
    case "button":
      return BUTTONS.includes(text) ? text : fail("unknown_button", text, token);
    default:
      return text;
  }
}

/** Points of a drag, written as "1 2; 3 4". */
function path(argument: Argument, token: Token, limits: Limits | undefined): { x: number; y: number }[] {
  const pairs = typeof token.value === "string" ? token.value.split(";").map((pair) => pair.trim().split(/[\s,]+/)) : [];
  const points = pairs.map(([x = "", y = "", ...more]) => {
    if (more.length > 0 || !/^\d{1,5}$/.test(x) || !/^\d{1,5}$/.test(y)) throw new ParseError("wrong_type", argument.field, token);
    return { x: Number(x), y: Number(y) };
  });
  if (token.type !== "text" || points.length === 0) throw new ParseError("wrong_type", argument.field, token);
  if (points.length > MAX_POINTS) throw new ParseError("out_of_range", argument.field, token);
  const { width, height } = limits ?? { width: MAX_PIXEL + 1, height: MAX_PIXEL + 1 };
  const outside = points.find(({ x, y }) => x >= width || y >= height);
  if (outside) throw new ParseError("off_screen", `${outside.x} ${outside.y}`, token);
  return points;
}

function hotkey(text: string, token: Token): string[] {
  const keys = parseHotkey(text) ?? fail("unknown_key", text, token);
  return keys.length <= MAX_KEYS ? keys : fail("out_of_range", text, token);
}

function fail(code: ErrorCode, subject: string, at: Token): never {
  throw new ParseError(code, subject, at);
}
