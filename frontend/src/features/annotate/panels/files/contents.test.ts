/** What is known of a file follows the record; what is saved is as small as it can be. */
import { describe, expect, it } from "vitest";

import type { Action, Step } from "@/generated/vocabulary";

import { contentsOf, lastUsedFile, pathIn, saveAction } from "./contents";

const step = (action: Action, text: string | null = null, failed = false) =>
  ({ action, after: { text }, error: failed ? { code: "cannot_read", message: "" } : null }) as Step;
const read = (path: string, text: string, failed = false) => step({ kind: "read_file", path }, text, failed);

describe("the contents of a file", () => {
  it("are what was read, and what was made of it", () => {
    const steps = [read("a.txt", "one\ntwo\n"), read("b.txt", "other"), step({ kind: "edit_file", path: "a.txt", old: "two", new: "$&" })];
    expect(contentsOf(steps, "a.txt")).toEqual({ text: "one\n$&\n", cut: false });
    expect(contentsOf([...steps, step({ kind: "write_file", path: "a.txt", text: "new" })], "a.txt")?.text).toBe("new");
    expect(lastUsedFile(steps)).toBe("a.txt");
  });

  it("are not known before they were seen, nor from acts that failed", () => {
    expect(contentsOf([step({ kind: "edit_file", path: "a.txt", old: "x", new: "y" })], "a.txt")).toBeNull();
    expect(contentsOf([read("a.txt", "", true)], "a.txt")).toBeNull();
  });

  it("say that they were cut", () => {
    expect(contentsOf([read("a.txt", "begin\n[cut after 65536 bytes]")], "a.txt")).toEqual({ text: "begin", cut: true });
  });
});

const CAN = ["write_file", "edit_file"];
const LONG = Array.from({ length: 30 }, (_, index) => `line ${index}\n`).join("");

describe("saving", () => {
  it("edits the lines that changed", () => {
    const after = LONG.replace("line 12\n", "twelve\n");
    expect(saveAction("a.txt", LONG, after, CAN)).toEqual({
      kind: "edit_file",
      path: "a.txt",
      old: "line 11\nline 12\nline 13\n",
      new: "line 11\ntwelve\nline 13\n",
    });
  });

  it("never makes another text than the one written, wherever the change lies", () => {
    const changed = [`first\n${LONG}`, `${LONG}last`, LONG.replace(/line 1\d\n/g, ""), LONG.replace("line 3\n", "line 3\nline 3\n")];
    for (const after of changed) {
      const act = saveAction("a.txt", LONG, after, CAN);
      expect(contentsOf([read("a.txt", LONG), step(act)], "a.txt")?.text).toBe(after);
    }
  });

  it("writes the whole where an edit would not say where, or is not to be had", () => {
    const twice = "same\nsame\nsame\nsame\nsame\nsame\n";
    expect(saveAction("a.txt", twice, twice.replace("same", "new"), CAN).kind).toBe("write_file");
    expect(saveAction("a.txt", LONG, `${LONG}x`, ["write_file"]).kind).toBe("write_file");
    expect(saveAction("a.txt", null, "x", CAN).kind).toBe("write_file");
    expect(saveAction("a.txt", "", "x", CAN).kind).toBe("write_file");
  });
});

describe("paths", () => {
  it.each([
    ["/home/user", "a", "/home/user/a"],
    ["/", "etc", "/etc"],
    ["/home/user", "..", "/home"],
    ["/home", "..", "/"],
    ["/", "..", "/"],
    [".", "a", "a"],
    ["a", "b", "a/b"],
    ["a", "..", "."],
    [".", "..", ".."],
    ["..", "..", "../.."],
    ["~/a", "..", "~"],
  ])("%s and %s make %s", (folder, name, path) => expect(pathIn(folder, name)).toBe(path));
});
