/** The terminal's tabs follow the record. */
import { describe, expect, it } from "vitest";

import type { Action, Step } from "@/generated/vocabulary";

import { COMMANDS, nextNumber, historyOf, sessionsOf, tabOf } from "./sessions";

const step = (action: Action) => ({ action }) as Step;
const run = (command: string) => step({ kind: "run_command", command, timeout: 30 });
const type = (text: string, session = "main") => step({ kind: "type_terminal", session, text });

describe("sessions", () => {
  it("are those opened, heard of or written to, each once", () => {
    expect(sessionsOf([type("x\n", "repl"), type("y\n", "repl")], ["build", "main"])).toEqual(["main", "build", "repl"]);
    expect(nextNumber(["main", "main-2"])).toBe(3);
  });

  it("are left for where the next act goes, and chosen again", () => {
    const steps = [type("a\n", "repl"), run("ls")];
    expect(tabOf([], null, "main")).toBe("main");
    expect(tabOf(steps, null, "main")).toBe(COMMANDS);
    expect(tabOf(steps, { tab: "repl", step: 1 }, "main")).toBe(COMMANDS);
    expect(tabOf(steps, { tab: "repl", step: 2 }, "main")).toBe("repl");
  });

  it("remember their lines, but no keys that are none", () => {
    const steps = [run("ls"), run("ls"), run("pwd"), type("1+1\n"), type("\u0003"), type("exit\n", "other")];
    expect(historyOf(steps, COMMANDS)).toEqual(["ls", "pwd"]);
    expect(historyOf(steps, "main")).toEqual(["1+1"]);
  });
});
