/** How every action is written as a call on the command line: one table, typed against the generated union. */

import type { Action } from "@/generated/vocabulary";

/** Actions a person can write; a gesture is only ever performed, and what is no action only ever said by a policy. */
export type TypedAction = Exclude<Action, { kind: "gesture" | "no_action" }>;
export type TypedKind = TypedAction["kind"];
type ActionOf<K extends TypedKind> = Extract<TypedAction, { kind: K }>;

/**
 * What an argument holds. `point` is written as two numbers; an optional point may be left out altogether, since
 * what follows it is never a number.
 */
export type ArgumentType =
  | "x"
  | "y"
  | "point"
  | "text"
  | "app"
  | "page"
  | "tool"
  | "path"
  | "files"
  | "key"
  | "keys"
  | "direction"
  | "button"
  | "number"
  | "integer"
  | "any_button"
  | "unit"
  | "points"
  | "object";

export interface Argument<Field extends string = string> {
  readonly field: Field;
  readonly type: ArgumentType;
  /** What is meant when the argument is left out; an argument without it must be written. */
  readonly fallback?: unknown;
  readonly least?: number;
  readonly most?: number;
}

type Fields<K extends TypedKind> = Exclude<keyof ActionOf<K>, "kind"> & string;
export type Table = { readonly [K in TypedKind]: readonly Argument<Fields<K>>[] };

const AT = [
  { field: "x", type: "x" },
  { field: "y", type: "y" },
] as const;
const START_END = [
  { field: "start", type: "point" },
  { field: "end", type: "point" },
] as const;
const BUTTON = { field: "button", type: "button", fallback: "left" } as const;
const POINT = { field: "point", type: "point", fallback: null } as const;
/** Keys that are down during the act. */
const HELD = { field: "keys", type: "keys", fallback: [] } as const;
const TEXT = { field: "text", type: "text" } as const;
const KEY = { field: "key", type: "key" } as const;
const PATH = { field: "path", type: "path" } as const;

const TABLE: Table = {
  click: AT,
  double_click: AT,
  right_click: AT,
  middle_click: AT,
  triple_click: AT,
  move_to: AT,
  mouse_down: [POINT, BUTTON],
  mouse_up: [POINT, BUTTON],
  mouse_click: [
    POINT,
    { field: "button", type: "any_button", fallback: "left" },
    { field: "clicks", type: "integer", fallback: 1, least: 1, most: 3 },
    HELD,
  ],
  drag: [...START_END, BUTTON],
  drag_path: [{ field: "points", type: "points" }, BUTTON, HELD],
  scroll_by: [
    { field: "dx", type: "integer", least: -20_000, most: 20_000 },
    { field: "dy", type: "integer", least: -20_000, most: 20_000 },
    { field: "unit", type: "unit", fallback: "pixels" },
    POINT,
    HELD,
  ],
  scroll: [
    POINT,
    { field: "direction", type: "direction" },
    { field: "amount", type: "integer", fallback: 5, least: 1, most: 100 },
  ],
  type_text: [TEXT],
  press_keys: [{ field: "keys", type: "keys" }],
  press: [KEY],
  release: [KEY],
  wait: [{ field: "seconds", type: "number", fallback: 5, least: 0.001, most: 60 }],
  navigate: [{ field: "url", type: "text" }],
  navigate_back: [],
  switch_page: [{ field: "page", type: "page" }],
  close_page: [{ field: "page", type: "page", fallback: null }],
  choose_files: [{ field: "files", type: "files", fallback: [] }],
  long_press: [...AT, { field: "seconds", type: "number", fallback: 1, least: 0.001, most: 10 }],
  swipe: START_END,
  open_app: [{ field: "name", type: "app" }],
  press_home: [],
  press_back: [],
  set_clipboard: [TEXT],
  get_clipboard: [],
  run_command: [
    { field: "command", type: "text" },
    { field: "timeout", type: "number", fallback: 30, least: 0.001, most: 600 },
  ],
  type_terminal: [TEXT, { field: "session", type: "text", fallback: "main" }],
  list_files: [{ ...PATH, fallback: "." }],
  read_file: [PATH],
  write_file: [PATH, TEXT],
  edit_file: [PATH, { field: "old", type: "text" }, { field: "new", type: "text" }],
  upload_file: [PATH, { field: "blob", type: "object" }],
  download_file: [PATH],
  run_code: [
    { field: "code", type: "text" },
    { field: "timeout", type: "number", fallback: 60, least: 0.001, most: 600 },
  ],
  call_tool: [
    { field: "name", type: "tool" },
    { field: "arguments", type: "object", fallback: {} },
  ],
  screenshot: [],
  zoom: START_END,
  finish: [{ field: "answer", type: "text", fallback: "" }],
  call_user: [{ field: "message", type: "text", fallback: "" }],
  infeasible: [{ field: "reason", type: "text", fallback: "" }],
};

export const KINDS = Object.keys(TABLE) as readonly TypedKind[];

/** Other names people and model families give these actions. */
export const ALIASES: Readonly<Record<string, TypedKind>> = {
  left_click: "click",
  left_single: "click",
  tap: "click",
  left_double: "double_click",
  right_single: "right_click",
  middle_single: "middle_click",
  left_triple: "triple_click",
  hover: "move_to",
  move: "move_to",
  mouse_move: "move_to",
  left_click_drag: "drag",
  select: "drag",
  type: "type_text",
  write: "type_text",
  hotkey: "press_keys",
  keys: "press_keys",
  sleep: "wait",
  goto: "navigate",
  back: "press_back",
  go_back: "navigate_back",
  tab: "switch_page",
  close_tab: "close_page",
  choose: "choose_files",
  home: "press_home",
  copy_to: "set_clipboard",
  bash: "run_command",
  execute_bash: "run_command",
  python: "run_code",
  terminal: "type_terminal",
  ls: "list_files",
  tool: "call_tool",
  finished: "finish",
  done: "finish",
};

/** The arguments of a kind, without the types of its fields. */
export function argumentsOf(kind: TypedKind): readonly Argument[] {
  return TABLE[kind];
}

/** The kind a written name means, if any. */
export function kindOfName(name: string): TypedKind | null {
  const lower = name.toLowerCase();
  if (Object.hasOwn(TABLE, lower)) return lower as TypedKind;
  return Object.hasOwn(ALIASES, lower) ? (ALIASES[lower] ?? null) : null;
}

/** Whether an argument may be left out. */
export function isOptional(argument: Argument): boolean {
  return "fallback" in argument;
}
