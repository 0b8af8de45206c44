/** Completion and pointing while a call is being written; a caret is written as ‸. */
import { describe, expect, it } from "vitest";

import { makeEpisodeState, OBSERVATION } from "@/features/annotate/testing/fixtures";
import { SHELL_ANSWERS } from "@/features/annotate/testing/shell-answers";

import { insertPoint, placeAt } from "./call";
import { suggestionsAt, type CompletionContext } from "./completion";
import { screenTexts } from "./screen-texts";
import { commandAt, shellSuggestions } from "./shell-completion";

declare module "vitest" {
  interface TaskMeta {
    /** Read by `./pilothouse bench desk`. */
    completion_keys_saved_share?: number;
  }
}

/**
 * How many keys a call takes: characters, arrows to a suggestion, and Tab; one Tab more where the machine's shell is asked. Brackets
 * and quotes close by themselves.
 */
function keysFor(whole: string, context: CompletionContext, shell: boolean): number {
  const end = whole.length - 2;
  let [keys, at] = [0, 0];
  while (at < end) {
    const jump = jumpAt(whole, at, end, context, shell);
    keys += jump?.keys ?? 1;
    at = jump?.to ?? at + 1;
  }
  return keys;
}

/** The suggestions at the end of what is written, and how many keys it takes to see them. */
function listsAt(begun: string, context: CompletionContext, shell: boolean) {
  const found = begun === "" ? null : suggestionsAt(begun, begun.length, context);
  const local = found === null ? [] : [{ from: found.from, options: found.options, requestKeys: 0 }];
  const place = shell ? commandAt(begun, begun.length) : null;
  const answer = place === null ? undefined : SHELL_ANSWERS[place.line];
  if (place === null || answer === undefined) return local;
  return [...local, { from: place.from, options: shellSuggestions(place, { ...answer, offered: true, more: false }), requestKeys: 1 }];
}

/** The farthest that a suggestion at this place leads towards the whole. */
function jumpAt(whole: string, at: number, end: number, context: CompletionContext, shell: boolean): { keys: number; to: number } | null {
  const reached = listsAt(whole.slice(0, at), context, shell).flatMap(({ from, options, requestKeys }) =>
    options.flatMap(({ insert, caret }, index) => {
      const written = whole.slice(0, from) + insert.slice(0, insert.endsWith('"') ? -1 : caret);
      const keys = requestKeys + index + 1;
      return whole.startsWith(written) && written.length > at + keys ? [{ keys, to: Math.min(written.length, end) }] : [];
    }),
  );
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
  it.each([
    ['type_text("see no‸ and go")', 'type_text("see notes/a.txt‸ and go")'],
    ["type_text('my repo‸ of \"May\"')", "type_text('my report‸ of \"May\"')"],
    ['type_text("repo‸rt")', 'type_text("report"‸)'],
    ['read_file("no‸es/a.txt")', 'read_file("notes/a.txt"‸)'],
    ['scroll(1, 2, "do‸wm")', 'scroll(1, 2, "down"‸)'],
  ])("keeps the text behind the caret in texts and paths, and replaces other arguments: %s", (marked, expected) => {
    const [text, caret] = split(marked);
    const found = suggestionsAt(text, caret, { ...CONTEXT, recentTexts: [] });
    const [chosen] = found?.options.filter(({ label }) => label !== "Rename") ?? [];
    const [whole, at] = split(expected);
    expect(found && chosen && text.slice(0, found.from) + chosen.insert + text.slice(found.to)).toBe(whole);
    expect((found?.from ?? 0) + (chosen?.caret ?? 0)).toBe(at);
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
  it("is what the machine knows of its screen, after what the task says", () => {
    const { task } = makeEpisodeState();
    const machine = { titles: ["Untitled 1 - Mousepad"], words: ["Reservation"] };
    const found = screenTexts({ task: { ...task, instruction: 'Write "Hello".' }, observation: OBSERVATION, steps: [] }, machine);
    expect(found.phrases).toEqual(["Hello", "Untitled 1 - Mousepad"]);
    expect(found.words).toEqual(expect.arrayContaining(["Mousepad", "Reservation"]));
    expect(suggestionsAt(...split('type_text("my res‸")'), { ...CONTEXT, ...found })?.options.map(({ label }) => label)).toEqual(["my Reservation"]);
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
  ["run_command", "cat Documents/invoices/2024-03.csv", "Sum up the invoice of March.", ""],
  ["run_command", "chmod +x deploy.sh", "Make the script executable.", ""],
  ["run_command", "unzip Downloads/photos.zip -d Pictures/", "Unpack the photos.", ""],
  ["run_command", "tail -n 20 server.log | sort > archive/errors.txt", "Keep the last errors.", ""],
  ["run_command", 'cp -r Documents/contracts "$HOME/archive/"', "Archive the contracts.", ""],
] as const;

/** The share of keys that is saved over all commands. */
function savedShare(shell: boolean): number {
  const wholes = WRITTEN.map(([kind, text, instruction, screenText]) => {
    const { task } = makeEpisodeState();
    const texts = screenTexts({ task: { ...task, instruction }, observation: { ...OBSERVATION, text: screenText }, steps: [] });
    const whole = `${kind}(${JSON.stringify(text)})`;
    return { typed: whole.length, needed: keysFor(whole, { ...CONTEXT, ...texts, recentTexts: [], capabilities: [kind] }, shell) };
  });
  const sum = (key: "typed" | "needed") => wholes.reduce((total, one) => total + one[key], 0);
  expect(wholes.filter(({ typed, needed }) => needed > typed)).toEqual([]);
  return Math.round((1 - sum("needed") / sum("typed")) * 1_000) / 1_000;
}

describe("keys that completion saves", () => {
  it("are at least half of all, and more with the machine's shell than without", ({ task }) => {
    const [share, without] = [savedShare(true), savedShare(false)];
    task.meta.completion_keys_saved_share = share;
    expect(share).toBeGreaterThanOrEqual(0.5);
    expect(share).toBeGreaterThan(without);
  });
});

describe("the machine's shell", () => {
  it.each([
    ['run_command("cat no‸', { line: "cat no", before: "", after: "", session: null, from: 12, to: 19 }],
    ['run_command("cat \\"no‸")', { line: 'cat "no', before: "", after: "", session: null, from: 12, to: 22 }],
    ["run_command('cat no‸', 5)", { line: "cat no", before: "", after: "", session: null, from: 12, to: 20 }],
    ['type_terminal("cd /\\nls ‸")', { line: "ls ", before: "cd /\n", after: "", session: "main", from: 14, to: 25 }],
    ['type_terminal("ls ‸", "other")', { line: "ls ", before: "", after: "", session: "other", from: 14, to: 19 }],
    ['run_command("cat no‸ | sort")', { line: "cat no", before: "", after: " | sort", session: null, from: 12, to: 27 }],
    ['run_command("cat no‸ | so', { line: "cat no", before: "", after: " | so", session: null, from: 12, to: 24 }],
  ])("is asked for %s", (marked, expected) => {
    expect(commandAt(...split(marked))).toEqual(expected);
  });

  it.each(['type_text("cat no‸")', 'run_command(‸"cat")', 'run_command("cat no"‸)', 'run_command("cat", 5‸)', "run_command(cat‸)", 'run_command("cat \\‸'])("is not asked for %s", (marked) => {
    expect(commandAt(...split(marked))).toBeNull();
  });

  it("leaves what stands behind the caret", () => {
    const place = commandAt(...split('run_command("cat no‸ | grep \\"a\\"")'));
    const answer = { offered: true, start: 4, options: ["notes.md"], more: false };
    expect(place && shellSuggestions(place, answer)).toEqual([
      { label: "notes.md", insert: '"cat notes.md | grep \\"a\\""', caret: 13, detail: "shell" },
    ]);
  });

  it("writes what it offers into the text, quoted", () => {
    const place = commandAt(...split('type_terminal("cd /\\ncat 🙂 \\"my‸")'));
    const answer = { offered: true, start: 6, options: ['"my file'], more: false };
    expect(place && shellSuggestions(place, answer)).toEqual([
      { label: '"my file', insert: '"cd /\\ncat 🙂 \\"my file"', caret: 23, detail: "shell" },
    ]);
  });
});
