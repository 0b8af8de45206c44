/** From a tool's JSON Schema to the fields of a form, and from what was written in them to its arguments; pure. */
import type { Tool } from "@/generated/vocabulary";

type FieldKind = "text" | "number" | "integer" | "boolean" | "choice" | "json";

export interface Field {
  readonly name: string;
  readonly title: string;
  readonly help: string;
  readonly kind: FieldKind;
  readonly required: boolean;
  /** What may be chosen, each as JSON. */
  readonly choices: readonly string[];
  /** What stands there at first. */
  readonly initial: string;
}

type Schema = Readonly<Record<string, unknown>>;

/** The fields of a tool; null where its arguments are no plain object, so that they are written as JSON. */
export function fieldsOf({ parameters }: Tool): Field[] | null {
  const properties = parameters.properties ?? {};
  if ((parameters.type ?? "object") !== "object" || !isObject(properties)) return null;
  const required = Array.isArray(parameters.required) ? parameters.required : [];
  return Object.entries(properties).map(([name, schema]) => fieldOf(name, isObject(schema) ? schema : {}, required.includes(name)));
}

function fieldOf(name: string, schema: Schema, required: boolean): Field {
  const choices = Array.isArray(schema.enum) ? schema.enum.map((value) => JSON.stringify(value)) : [];
  const kind = choices.length > 0 ? "choice" : kindOf(schema.type);
  return {
    name,
    title: typeof schema.title === "string" ? schema.title : name,
    help: typeof schema.description === "string" ? schema.description : "",
    kind,
    required,
    choices,
    initial: schema.default === undefined ? "" : written(schema.default, kind),
  };
}

function kindOf(type: unknown): FieldKind {
  switch (type) {
    case "string":
      return "text";
    case "number":
    case "integer":
    case "boolean":
      return type;
    default:
      return "json";
  }
}

function written(value: unknown, kind: FieldKind): string {
  return kind === "text" && typeof value === "string" ? value : JSON.stringify(value);
}

/** Which field cannot be read, and whether it is missing or wrong. */
export interface Fault {
  readonly name: string;
  readonly reason: "missing" | "wrong";
}

export type ParsedArguments = { readonly ok: true; readonly values: Readonly<Record<string, unknown>> } | { readonly ok: false; readonly faults: readonly Fault[] };

/** The arguments the fields stand for; an optional field left empty is left out. */
export function argumentsFrom(fields: readonly Field[], texts: Readonly<Record<string, string>>): ParsedArguments {
  const values: Record<string, unknown> = {};
  const faults: Fault[] = [];
  for (const field of fields) {
    const text = texts[field.name] ?? field.initial;
    if (text.trim() === "") {
      if (field.required) faults.push({ name: field.name, reason: "missing" });
      continue;
    }
    const value = valueOf(field.kind, text);
    if (value === undefined) faults.push({ name: field.name, reason: "wrong" });
    else values[field.name] = value;
  }
  return faults.length === 0 ? { ok: true, values } : { ok: false, faults };
}

function valueOf(kind: FieldKind, text: string): unknown {
  if (kind === "text") return text;
  const value = fromJson(text);
  if (kind === "number" || kind === "integer") {
    return typeof value === "number" && (kind === "number" || Number.isInteger(value)) ? value : undefined;
  }
  return value;
}

const EMPTY: Readonly<Record<FieldKind, unknown>> = { text: "", number: 0, integer: 0, boolean: false, choice: null, json: null };

/** A tool's required arguments with what its schema says stands there at first; null where they are no plain object. */
export function emptyArguments(tool: Tool): Record<string, unknown> | null {
  const required = fieldsOf(tool)?.filter((field) => field.required);
  return required === undefined ? null : Object.fromEntries(required.map((field) => [field.name, initialOf(field)]));
}

function initialOf({ kind, initial, choices }: Field): unknown {
  if (kind === "text") return initial;
  return fromJson(initial) ?? (kind === "choice" ? fromJson(choices[0] ?? "null") : EMPTY[kind]);
}

/** A text read as JSON; undefined where it is none. */
export function fromJson(text: string): unknown {
  try {
    return JSON.parse(text) as unknown;
  } catch (error) {
    if (error instanceof SyntaxError) return undefined;
    throw error;
  }
}

export function isObject(value: unknown): value is Record<string, unknown> {
  return typeof value === "object" && value !== null && !Array.isArray(value);
}
