/** The command line reads what it writes, understands what people write, and says what is wrong. */
import { describe, expect, it } from "vitest";

import { parseAction, type Limits } from "./parse";
import { printAction } from "./print";
import { KINDS, type TypedAction, type TypedKind } from "./table";

const TEXTS = ["", "report.txt", 'say "hi"', "it's", "a\\b\nc\td", "文件 ✓", "\u0007 ) , = {", "click(1, 2)"];
const POINTS = [
  { x: 0, y: 0 },
  { x: 1279, y: 719 },
];

const [P, Q] = POINTS as [(typeof POINTS)[0], (typeof POINTS)[0]];

/** Some of every kind, with and without what may be left out. */
const EXAMPLES: { readonly [K in TypedKind]: readonly Extract<TypedAction, { kind: K }>[] } = {
  click: POINTS.map((at) => ({ kind: "click", ...at })),
  double_click: [{ kind: "double_click", ...P }],
  right_click: [{ kind: "right_click", ...P }],
  middle_click: [{ kind: "middle_click", ...P }],
  triple_click: [{ kind: "triple_click", ...P }],
  move_to: [{ kind: "move_to", ...Q }],
  mouse_down: [
    { kind: "mouse_down", point: null, button: "left" },
    { kind: "mouse_down", point: P, button: "right" },
    { kind: "mouse_down", point: null, button: "middle" },
  ],
  mouse_up: [{ kind: "mouse_up", point: Q, button: "left" }],
  drag: [
    { kind: "drag", start: P, end: Q, button: "left" },
    { kind: "drag", start: Q, end: P, button: "middle" },
  ],
  scroll: [
    { kind: "scroll", point: P, direction: "down", amount: 5 },
    { kind: "scroll", point: null, direction: "up", amount: 3 },
  ],
  type_text: TEXTS.map((text) => ({ kind: "type_text", text })),
  press_keys: [["ctrl", "s"], ["ctrl", "+"], ["+"], ["ctrl", "shift", "pagedown"], ["space"]].map((keys) => ({
    kind: "press_keys",
    keys,
  })),
  press: [{ kind: "press", key: "shift" }],
  release: [{ kind: "release", key: "," }],
  wait: [
    { kind: "wait", seconds: 5 },
    { kind: "wait", seconds: 0.5 },
  ],
  navigate: [{ kind: "navigate", url: "https://example.org/?a=1&b=(2)" }],
  navigate_back: [{ kind: "navigate_back" }],
  switch_page: [{ kind: "switch_page", page: "page-2" }],
  close_page: [
    { kind: "close_page", page: null },
    { kind: "close_page", page: "page-2" },
  ],
  choose_files: [
    { kind: "choose_files", files: [] },
    { kind: "choose_files", files: ["a report.pdf", "photo (1).png"] },
  ],
  long_press: [{ kind: "long_press", ...P, seconds: 2 }],
  swipe: [{ kind: "swipe", start: P, end: Q }],
  open_app: [{ kind: "open_app", name: "Settings" }],
  press_home: [{ kind: "press_home" }],
  press_back: [{ kind: "press_back" }],
  set_clipboard: TEXTS.map((text) => ({ kind: "set_clipboard", text })),
  get_clipboard: [{ kind: "get_clipboard" }],
  run_command: [
    { kind: "run_command", command: "ls -la | grep '\"x\"'", timeout: 30 },
    { kind: "run_command", command: "sleep 9", timeout: 60.5 },
  ],
  type_terminal: [
    { kind: "type_terminal", session: "main", text: "ls\n" },
    { kind: "type_terminal", session: "repl", text: "\u0003" },
  ],
  list_files: [
    { kind: "list_files", path: "." },
    { kind: "list_files", path: "/tmp" },
  ],
  upload_file: [
    { kind: "upload_file", path: "a.png", blob: { sha256: "0".repeat(64), media_type: "image/png", size: 3 } },
  ],
  download_file: [{ kind: "download_file", path: "a.png" }],
  read_file: [{ kind: "read_file", path: "/tmp/a b.txt" }],
  write_file: TEXTS.map((text) => ({ kind: "write_file", path: "a.txt", text })),
  edit_file: [{ kind: "edit_file", path: "a.txt", old: "one", new: "" }],
  run_code: [{ kind: "run_code", code: "print({'a': 1})\n", timeout: 60 }],
  call_tool: [
    { kind: "call_tool", name: "search", arguments: {} },
    { kind: "call_tool", name: "search", arguments: { query: "a } b", deep: { list: [1, null, true] } } },
  ],
  finish: TEXTS.map((answer) => ({ kind: "finish", answer })),
  call_user: [{ kind: "call_user", message: "Which one?" }],
  mouse_click: [
    { kind: "mouse_click", point: P, button: "left", clicks: 1, keys: ["ctrl", "shift"] },
    { kind: "mouse_click", point: null, button: "back", clicks: 1, keys: [] },
    { kind: "mouse_click", point: null, button: "right", clicks: 2, keys: [] },
  ],
  drag_path: [
    { kind: "drag_path", points: [P, Q, P], button: "left", keys: ["alt"] },
    { kind: "drag_path", points: [Q], button: "right", keys: [] },
  ],
  scroll_by: [
    { kind: "scroll_by", point: P, dx: -20, dy: 375, unit: "pixels", keys: [] },
    { kind: "scroll_by", point: null, dx: 0, dy: -3, unit: "notches", keys: ["ctrl"] },
  ],
  screenshot: [{ kind: "screenshot" }],
  zoom: [{ kind: "zoom", start: P, end: Q }],
  infeasible: [{ kind: "infeasible", reason: "No such file" }],
};

describe("what is printed is read back as the same action", () => {
  const all = KINDS.flatMap((kind): readonly TypedAction[] => EXAMPLES[kind]);
  it.each(all.map((action) => [printAction(action), action] as const))("%s", (text, action) => {
    expect(parseAction(text)).toEqual({ ok: true, action });
  });
});

describe("other ways of writing", () => {
  it.each<[string, TypedAction]>([
    ["left_double(5, 6)", { kind: "double_click", x: 5, y: 6 }],
    ["right_single( 5,6 )", { kind: "right_click", x: 5, y: 6 }],
    ["Click(x=5, y=6)", { kind: "click", x: 5, y: 6 }],
    ["hotkey(key='ctrl c')", { kind: "press_keys", keys: ["ctrl", "c"] }],
    ['press_keys("Control+Return")', { kind: "press_keys", keys: ["ctrl", "enter"] }],
    ["type(content='don\\'t\\n')", { kind: "type_text", text: "don't\n" }],
    ['scroll("down")', { kind: "scroll", point: null, direction: "down", amount: 5 }],
    ['scroll(6, 7, direction="up", amount=2)', { kind: "scroll", point: { x: 6, y: 7 }, direction: "up", amount: 2 }],
    ["finished(content='42')", { kind: "finish", answer: "42" }],
    ["wait(time=2)", { kind: "wait", seconds: 2 }],
  ])("%s", (text, action) => {
    expect(parseAction(text)).toEqual({ ok: true, action });
  });
});

describe("what is wrong is said, with its place", () => {
  const limits: Limits = { width: 1280, height: 720, capabilities: ["click", "scroll", "press_keys", "type_text", "drag"] };
  it.each([
    ["", "empty", 0],
    ["klick(1, 2)", "unknown_action", 0],
    ["constructor(1)", "unknown_action", 0],
    ["click", "not_a_call", 0],
    ["click(1, 2", "not_a_call", 9],
    ["click(1)", "missing_argument", 7],
    ["click(1, 2, 3)", "too_many_arguments", 12],
    ["click(1 2)", "bad_token", 8],
    ["click(1, ?)", "bad_token", 9],
    ['type_text("never closed)', "bad_token", 10],
    ["click(1, 2, z=3)", "unknown_argument", 12],
    ['click("1", 2)', "wrong_type", 6],
    ["click(1.5, 2)", "wrong_type", 6],
    ["click(-1, 2)", "out_of_range", 6],
    ["click(1280, 0)", "off_screen", 6],
    ["drag(1, 2, 3, 720)", "off_screen", 14],
    ['scroll("sideways")', "unknown_direction", 7],
    ['scroll(1, 2, "up", 0)', "out_of_range", 19],
    ['press_keys("ctrl+splat")', "unknown_key", 11],
    ['press_keys("a b c d e f")', "out_of_range", 11],
    ['drag(1, 2, 3, 4, "thumb")', "unknown_button", 17],
    ["press_home()", "unsupported_action", 0],
  ])("%s: %s", (text, code, from) => {
    expect(parseAction(text, limits)).toMatchObject({ ok: false, code, from });
  });

  it("lets a person finish whatever the machine can do", () => {
    expect(parseAction("finish()", limits).ok).toBe(true);
  });
});
