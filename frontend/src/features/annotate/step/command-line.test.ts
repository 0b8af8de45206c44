/** Completion and pointing while a call is being written; a caret is written as ‸. */
import { describe, expect, it } from "vitest";

import { insertPoint, placeAt } from "./call";
import { suggestionsAt } from "./completion";

const split = (marked: string): [string, number] => [marked.replace("‸", ""), marked.indexOf("‸")];
const CONTEXT = {
  capabilities: ["click", "right_click", "type_text", "press_keys", "scroll", "drag", "press_home", "read_file", "call_tool"],
  recentTexts: ["report.txt", "Hello, world"],
  apps: ["Contacts", "Clock"],
  tools: ["notes.add", "notes.read"],
  pages: ["page-1", "page-2"],
  files: ["a note.txt"],
  paths: ["notes/a.txt"],
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
    expect(labels('type_text("re‸")')).toEqual(["report.txt"]);
  });
  it("offers the machine's tools, and paths that were named before", () => {
    expect(labels('call_tool("no‸')).toEqual(["notes.add", "notes.read"]);
    expect(labels('read_file("‸")')).toEqual(["notes/a.txt"]);
  });
  it("offers the machine's apps", () => {
    expect(labels('open_app("c‸')).toEqual(["Contacts", "Clock"]);
    expect(labels('open_app("clo‸')).toEqual(["Clock"]);
  });
  it("is silent among coordinates", () => {
    expect(labels("click(1‸")).toEqual([]);
  });
});
