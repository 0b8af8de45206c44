/** A person at a machine without a screen: by the panels, over a session with a fake wire. */
import { screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { Action, EpisodeState, Step } from "@/generated/vocabulary";
import { renderWorkspace } from "@/features/annotate/testing/harness";
import { OBSERVATION, POLICY, makeProposal } from "@/features/annotate/testing/fixtures";

const CAPABILITIES = ["run_command", "read_file", "write_file", "edit_file", "run_code", "call_tool"];
const TEXT = { ...OBSERVATION, screenshot: null, width: 0, height: 0 };
const ECHO = {
  name: "notes.echo",
  description: "Says it again.",
  parameters: { type: "object", properties: { text: { type: "string", title: "Text" } }, required: ["text"] },
};

const step = (index: number, action: Action, text: string | null = null, undone = false): Step => ({
  index,
  command_id: `command-${index}`,
  actor: "human",
  decision: "override",
  proposal_id: null,
  acted_by: null,
  acceptable_ids: [],
  wrong_ids: [], thought_timing: "before", continued_characters: 0,
  thought: "Because.",
  action,
  before: TEXT,
  after: { ...TEXT, text },
  error: null,
  policy: POLICY,
  started_at: OBSERVATION.captured_at,
  ended_at: OBSERVATION.captured_at,
  decide_ms: null,
  undone,
  review: null,
  batch: null,
  not_done: [], provider_calls: [],
});

const open = (changed: Partial<EpisodeState> = {}) =>
  renderWorkspace({ capabilities: CAPABILITIES, observation: TEXT, thought_required: false, tools: [ECHO], ...changed });

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify({ path: ".", entries: [] }))));
});

describe("the terminal", () => {
  it("stands in the picture's place, and makes a line a step", async () => {
    const { user, commands } = open();
    await user.keyboard("s");
    await user.type(screen.getByRole("textbox", { name: "Command to run" }), "ls -l{Enter}");
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "run_command", command: "ls -l", timeout: 30 } }]);
  });

  it("asks for the thought a pool requires, and comes back to the line", async () => {
    const { user, commands } = open({ thought_required: true });
    await user.keyboard("s");
    const line = screen.getByRole("textbox", { name: "Command to run" });
    await user.type(line, "ls{Enter}");
    expect(document.activeElement).toBe(screen.getByPlaceholderText("Why this step?"));
    expect(commands()).toEqual([]);
    await user.keyboard("I look.{Enter}");
    expect(commands()).toMatchObject([{ type: "act", thought: "I look." }]);
    expect(document.activeElement).toBe(line);
  });

  it("brings back what was written before", async () => {
    const { user } = open({ steps: [step(0, { kind: "run_command", command: "first", timeout: 30 }), step(1, { kind: "run_command", command: "second", timeout: 30 })] });
    await user.keyboard("s{ArrowUp}{ArrowUp}");
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "Command to run" }).value).toBe("first");
    await user.keyboard("{ArrowDown}{ArrowDown}");
    expect(screen.getByRole<HTMLInputElement>("textbox", { name: "Command to run" }).value).toBe("");
  });

  it("shows what commands printed, but not those that were taken back", () => {
    const run = (command: string): Action => ({ kind: "run_command", command, timeout: 30 });
    open({ steps: [step(0, run("one"), "printed by one"), step(1, run("two"), "printed by two", true)] });
    const log = screen.getByRole("log", { name: "Commands" });
    expect(log.textContent).toContain("printed by one");
    expect(log.textContent).not.toContain("printed by two");
    expect(screen.getByRole("button", { name: /^Step 2: .*Undone$/ })).toBeDefined();
  });
});

describe("files", () => {
  it("show what was read, wherever the reading came from", () => {
    open({ steps: [step(0, { kind: "read_file", path: "a.txt" }, "first line\nsecond line\n")] });
    expect(screen.getByRole("textbox", { name: "Text of a.txt" }).textContent).toContain("second line");
  });
});

describe("tools", () => {
  it("are called with what the form says, and not before it is whole", async () => {
    const { user, commands } = open();
    await user.keyboard("w");
    await user.keyboard("echo{Enter}");
    await user.click(screen.getByRole("button", { name: "Call" }));
    expect(commands()).toEqual([]);
    expect(screen.getByText("This is required")).toBeDefined();
    await user.type(screen.getByRole("textbox", { name: /^Text/ }), "hello{Enter}");
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "call_tool", name: "notes.echo", arguments: { text: "hello" } } }]);
  });
});

describe("candidates", () => {
  it("are read as what they do, and accepted by their digit", async () => {
    const { user, commands } = open({ proposals: [makeProposal(1, { kind: "edit_file", path: "a.ini", old: "port = 1", new: "port = 2" })] });
    expect(screen.getByLabelText("What the edit changes").textContent).toBe("- port = 1\n+ port = 2\n");
    await user.keyboard("1");
    expect(commands()).toMatchObject([{ type: "accept", proposal_id: "proposal-1" }]);
  });
});

describe("going back", () => {
  it("is one key, where the machine can and something stands", async () => {
    const steps = [step(0, { kind: "run_command", command: "rm a", timeout: 30 })];
    const first = open({ can_undo: true, steps });
    await first.user.keyboard("u");
    expect(first.commands()).toMatchObject([{ type: "undo" }]);
    expect(screen.getByText("The machine goes back one step.")).toBeDefined();
  });

  it("says why it was not done", async () => {
    const { user, commands, say } = open({ can_undo: true, steps: [step(0, { kind: "run_command", command: "date", timeout: 30 })] });
    await user.keyboard("u");
    const [command] = commands();
    if (command === undefined || !("command_id" in command)) throw new Error("nothing was sent");
    say({ type: "rejected", command_id: command.command_id, code: "cannot_restore", message: "the clock shows another time" });
    expect(screen.getByRole("alert").textContent).toContain("the clock shows another time");
  });
});
