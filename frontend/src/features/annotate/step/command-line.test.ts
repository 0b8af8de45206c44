/** Completion and pointing while a call is being written; a caret is written as ‸. */
import { describe, expect, it } from "vitest";

import { makeEpisodeState, OBSERVATION } from "@/features/annotate/testing/fixtures";

import { insertPoint, placeAt } from "./call";
import { suggestionsAt, type CompletionContext } from "./completion";
import { screenTexts } from "./screen-texts";

declare module "vitest" {
  interface TaskMeta {
    /** Read by `./pilothouse bench desk`. */
    completion_keys_saved_share?: number;
  }
}

/** How many keys a call takes: characters, arrows to a suggestion, and Tab. Brackets and quotes close by themselves. */
function keysFor(whole: string, context: CompletionContext): number {
  const end = whole.length - 2;
  let [keys, at] = [0, 0];
  while (at < end) {
    const jump = jumpAt(whole, at, end, context);
    keys += jump?.keys ?? 1;
    at = jump?.to ?? at + 1;
  }
  return keys;
}

/** The farthest that a suggestion at this place leads towards the whole. */
function jumpAt(whole: string, at: number, end: number, context: CompletionContext): { keys: number; to: number } | null {
  const found = at === 0 ? null : suggestionsAt(whole.slice(0, at), at, context);
  const reached = (found?.options ?? []).flatMap(({ insert, caret }, index) => {
    const written = whole.slice(0, found?.from) + insert.slice(0, insert.endsWith('"') ? -1 : caret);
    return whole.startsWith(written) && written.length > at + index + 1 ? [{ keys: index + 1, to: Math.min(written.length, end) }] : [];
  });
  return reached.toSorted((one, other) => other.to - other.keys - (one.to - one.keys))[0] ?? null;
}

const split = (marked: string): [string, number] => [marked.replace("‸", ""), marked.indexOf("‸")];
const CONTEXT = {
  capabilities: ["click", "right_click", "type_text", "press_keys", "scroll", "drag", "press_home", "read_file", "call_tool"],
  recentTexts: ["report.txt", "Hello, world"],
  apps: ["Contacts", "Clock"],
  tools: ["notes.add", "notes.read"],
  pages: ["page-1", "page-2"],
  files: ["a note.txt"],
  paths: ["notes/a.txt"],
  phrases: ["final.txt", "git status"],
  words: ["Rename", "report", "status"],
  toolArguments: { "notes.add": '{"text":""}' },
};

describe("the argument at the caret", () => {
  it.each([
    ["click(‸", "x"],
    ["click(5, ‸", "y"],
    ["click(5‸, 6)", "x"],
    ["drag(1, 2, 3‸, 4)", "end.x"],
    ['scroll(1, 2, "do‸', "direction"],
    ['scroll("do‸wn")', "direction"],
    ['scroll(1, 2, "down", ‸)', "amount"],
    ['type_text("a, b‸")', "text"],
    ["hotkey('ctrl‸')", "keys"],
  ])("%s", (marked, field) => {
    const place = placeAt(...split(marked));
    expect(place?.slot == null ? null : place.slots[place.slot]?.field).toBe(field);
  });

  it.each(["cli‸ck(1, 2)", "click(1, 2)‸", "click(1, 2, 3‸)", "nothing(‸)", "‸"])("%s has none", (marked) => {
    expect(placeAt(...split(marked))?.slot ?? null).toBeNull();
  });
});

describe("pointing writes coordinates", () => {
  it.each([
    ["click(‸", "click(7, 8)‸"],
    ["click(‸)", "click(7, 8‸)"],
    ["click(1‸, 2)", "click(7, 8‸)"],
    ["click(1, 2‸)", "click(7, 8‸)"],
    ["drag(‸", "drag(7, 8, ‸"],
    ["drag(7, 8, ‸", "drag(7, 8, 7, 8)‸"],
    ["drag(‸1, 2, 3, 4)", "drag(7, 8,‸ 3, 4)"],
    ['scroll(‸, "down")', 'scroll(7, 8‸, "down")'],
  ])("%s → %s", (marked, expected) => {
    const done = insertPoint(...split(marked), { x: 7, y: 8 });
    const [text] = split(expected);
    expect(done?.text).toBe(text);
    expect(done?.caret).toBeLessThanOrEqual(text.length);
  });

  it.each(['type_text("‸")', "‸", "click(1, 2)‸"])("%s has nothing to point at", (marked) => {
    expect(insertPoint(...split(marked), { x: 7, y: 8 })).toBeNull();
  });
});

describe("completion", () => {
  const labels = (marked: string) => suggestionsAt(...split(marked), CONTEXT)?.options.map(({ label }) => label) ?? [];

  it("offers only what the machine can do, best match first", () => {
    expect(labels("cl‸")).toEqual(["click", "right_click"]);
    expect(labels("dou‸")).toEqual([]);
  });
  it("knows other names", () => {
    expect(labels("hot‸")).toEqual(["press_keys"]);
  });
  it("puts the caret where the first argument goes", () => {
    const done = suggestionsAt("typ", 3, CONTEXT)?.options[0];
    expect(done).toMatchObject({ insert: 'type_text("")', caret: 11 });
  });
  it("offers directions, keys after modifiers and texts used lately", () => {
    expect(labels('scroll(1, 2, "d‸')).toEqual(["down"]);
    expect(labels('press_keys("ctrl+pa‸")')).toEqual(["ctrl+pageup", "ctrl+pagedown", "ctrl+pause"]);
    expect(labels('press_keys("sh‸")')).toEqual(["shift+"]);
    expect(labels('type_text("re‸")')).toEqual(["report.txt", "Rename", "report"]);
  });
  it("offers the machine's tools, and paths that were named before", () => {
    expect(labels('call_tool("no‸')).toEqual(["notes.add", "notes.read"]);
    expect(labels('read_file("‸")')).toEqual(["notes/a.txt"]);
  });
  it("offers the machine's apps", () => {
    expect(labels('open_app("c‸')).toEqual(["Contacts", "Clock"]);
    expect(labels('open_app("clo‸')).toEqual(["Clock"]);
  });
  it("goes on with texts of the task, and with words and paths inside a text", () => {
    expect(labels('type_text("fin‸")')).toEqual(["final.txt"]);
    expect(labels('type_text("see no‸")')).toEqual(["see notes/a.txt"]);
    expect(labels('type_text("my repo‸")')).toEqual(["my report"]);
    expect(labels('type_text("my r‸")')).toEqual([]);
  });
  it("writes a tool's arguments with nothing in them yet, the caret in the first", () => {
    const done = suggestionsAt(...split('call_tool("notes.add", ‸)'), CONTEXT)?.options[0];
    expect(done).toMatchObject({ insert: '{"text":""}', caret: 9 });
    expect(labels('call_tool("notes.add", {‸)')).toEqual([]);
    expect(labels('call_tool("notes.read", ‸)')).toEqual([]);
  });
  it("is silent among coordinates", () => {
    expect(labels("click(1‸")).toEqual([]);
  });
});

describe("what is completed with", () => {
  it("is what the task quotes, commands that were run, and words and paths on the screen", () => {
    const episode = makeEpisodeState();
    const found = screenTexts({
      task: { ...episode.task, instruction: 'Write "Best wishes" into letter.txt, as Nina asked.' },
      observation: { ...OBSERVATION, text: "$ ls /home/nina\nletters/first.md  total 12" },
      steps: [],
    });
    expect(found.phrases).toEqual(["Best wishes"]);
    expect(found.words).toEqual(expect.arrayContaining(["Nina", "wishes", "letter.txt"]));
    expect(found.paths).toEqual(["letter.txt", "/home/nina", "letters/first.md"]);
  });
});

/** Commands as people wrote them, each with what they saw. */
const WRITTEN = [
  ["type_text", "Best wishes", 'Write "Best wishes" into letter.txt.', ""],
  ["type_text", "quarterly-report.ods", "Rename the file report.ods to quarterly-report.ods.", ""],
  ["type_text", "Nina Kowalski", "Add the contact Nina Kowalski with the number 5550134.", ""],
  ["type_text", "5550134", "Add the contact Nina Kowalski with the number 5550134.", ""],
  ["type_text", "nina@example.org", "Send a message to nina@example.org that says \"I am late\".", ""],
  ["type_text", "I am late", "Send a message to nina@example.org that says \"I am late\".", ""],
  ["read_file", "/home/user/Documents/invoice-2024.csv", "Sum up the invoice.", "/home/user/Documents/invoice-2024.csv"],
  ["read_file", "src/settings.py", "Find out the port.", "README.md\nsrc/settings.py\nsrc/main.py"],
  ["run_command", "cat src/settings.py", "Find out the port.", "README.md\nsrc/settings.py\nsrc/main.py"],
  ["run_command", "grep -n PORT src/settings.py", "Find out the value of PORT.", "src/settings.py"],
  ["run_command", "python3 convert.py measurements.csv", "Convert the measurements.", "convert.py  measurements.csv"],
  ["run_command", "mv drafts/letter.txt archive/", "Move the letter.", "archive/  drafts/letter.txt"],
  ["type_text", "Kitchen renovation", "Name the list \"Kitchen renovation\".", ""],
  ["navigate", "http://wiki.pilothouse.test/", "Open http://wiki.pilothouse.test/ and look for maple trees.", ""],
  ["type_text", "maple trees", "Open the wiki and search for 'maple trees'.", ""],
] as const;

describe("keys that completion saves", () => {
  it.each(WRITTEN)("%s %s", (kind, text, instruction, screenText) => {
    const episode = makeEpisodeState();
    const texts = screenTexts({ task: { ...episode.task, instruction }, observation: { ...OBSERVATION, text: screenText }, steps: [] });
    const context = { ...CONTEXT, ...texts, recentTexts: [], capabilities: [kind] };
    const whole = `${kind}(${JSON.stringify(text)})`;
    expect(keysFor(whole, context)).toBeLessThanOrEqual(whole.length);
  });

  it("are at least half of all", ({ task }) => {
    const episode = makeEpisodeState();
    let [typed, needed] = [0, 0];
    for (const [kind, text, instruction, screenText] of WRITTEN) {
      const texts = screenTexts({ task: { ...episode.task, instruction }, observation: { ...OBSERVATION, text: screenText }, steps: [] });
      const whole = `${kind}(${JSON.stringify(text)})`;
      typed += whole.length;
      needed += keysFor(whole, { ...CONTEXT, ...texts, recentTexts: [], capabilities: [kind] });
    }
    const share = 1 - needed / typed;
    task.meta.completion_keys_saved_share = Math.round(share * 1_000) / 1_000;
    expect(share).toBeGreaterThanOrEqual(0.5);
  });
});
