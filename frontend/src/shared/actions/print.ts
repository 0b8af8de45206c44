/** Writes an action as the call the command line reads. */

import type { Action, Point } from "@/generated/vocabulary";

import { hotkeyText } from "./keys";
import { argumentsOf, isOptional, type Argument } from "./table";

/** The action as a call; arguments at the end that say what is meant anyway are left out. */
export function printAction(action: Action): string {
  if (action.kind === "gesture") return `gesture(${action.inputs.length})`;
  if (action.kind === "no_action") return `no_action(${JSON.stringify(action.said)})`;
  const fields = action as unknown as Readonly<Record<string, unknown>>;
  const table = argumentsOf(action.kind);
  const written = table.slice(0, lastNeeded(table, fields) + 1);
  return `${action.kind}(${written.flatMap((argument) => printValue(argument, fields[argument.field])).join(", ")})`;
}

function lastNeeded(table: readonly Argument[], fields: Readonly<Record<string, unknown>>): number {
  return table.findLastIndex(
    (argument) => !isOptional(argument) || JSON.stringify(fields[argument.field]) !== JSON.stringify(argument.fallback),
  );
}

function printValue(argument: Argument, value: unknown): string[] {
  if (argument.type === "point") {
    if (value === null) return [];
    const { x, y } = value as Point;
    return [String(x), String(y)];
  }
  if (argument.type === "keys") return [JSON.stringify(hotkeyText(value as readonly string[]))];
  if (argument.type === "points") {
    return [JSON.stringify((value as readonly Point[]).map(({ x, y }) => `${x} ${y}`).join("; "))];
  }
  if (argument.type === "files") return [JSON.stringify((value as readonly string[]).join("|"))];
  return [JSON.stringify(value)];
}
