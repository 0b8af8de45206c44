/** A person in the workspace: accepting, editing, overriding and ending by keyboard, over a session with a fake wire. */
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Command, EpisodeState, PolicyRef } from "@/generated/vocabulary";

import { renderWorkspace } from "@/features/annotate/testing/harness";
import { makeEpisodeState, makeProposal, STEP } from "@/features/annotate/testing/fixtures";

const PROPOSALS = [
  makeProposal(1, { kind: "right_click", x: 192, y: 158 }, { thought: "The menu has Rename." }),
  makeProposal(2, { kind: "click", x: 500, y: 300 }),
  makeProposal(3, null),
];

const open = (changed: Partial<EpisodeState> = {}, control: "mine" | "other" = "mine") =>
  renderWorkspace({ proposals: PROPOSALS, observation: null, ...changed }, control);

const thought = () => screen.getByPlaceholderText<HTMLTextAreaElement>("Why this step?");

const claims = (calls: Parameters<typeof fetch>[]) => calls.filter(([url]) => typeof url === "string" && url.endsWith("/queue/next"));

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});
afterEach(() => vi.restoreAllMocks());

describe("accepting", () => {
  it("takes the first candidate with Enter, the second with its digit", async () => {
    const { user, commands } = open();
    await user.keyboard("{Enter}");
    await user.keyboard("2");
    expect(commands()).toMatchObject([
      { type: "accept", proposal_id: "proposal-1", base_version: 0, thought: null },
      { type: "accept", proposal_id: "proposal-2" },
    ]);
  });

  it("takes two keys for a task of one click: accept, then finish and claim the next task", async () => {
    const requests = vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(new Response(JSON.stringify({ episode_id: null }))));
    const { user, commands, say } = open();
    await user.keyboard("{Enter}");
    const last = makeProposal(1, { kind: "finish", answer: "" });
    say({ type: "snapshot", state: makeEpisodeState({ proposals: [last], observation: null }), control: "mine", acts_as: null });
    expect(screen.getByRole("button", { name: /Accept and finish, next task/ })).toBeDefined();
    await user.keyboard("{Enter}");
    expect(commands().map(({ type }) => type)).toEqual(["accept", "accept"]);
    say({ type: "snapshot", state: makeEpisodeState({ status: "finished", outcome: "success", proposals: [] }), control: "mine", acts_as: null });
    await waitFor(() => expect(claims(requests.mock.calls)).toHaveLength(1));
    expect(await screen.findByText("No task of Desktop is waiting.")).toBeDefined();
  });

  it("claims the next task once, also after a look at a past step", async () => {
    const requests = vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(new Response(JSON.stringify({ episode_id: null }))));
    const { user, say } = open({ proposals: [makeProposal(1, { kind: "finish", answer: "" })] });
    await user.keyboard("{Enter}");
    say({ type: "snapshot", state: makeEpisodeState({ status: "finished", outcome: "success", proposals: [], steps: [STEP] }), control: "mine", acts_as: null });
    await waitFor(() => expect(claims(requests.mock.calls)).toHaveLength(1));
    await user.keyboard("[[");
    expect(screen.queryByText("Task finished")).toBeNull();
    await user.keyboard("0");
    expect(await screen.findByText("Task finished")).toBeDefined();
    expect(claims(requests.mock.calls)).toHaveLength(1);
  });

  it("stays with a task that a digit ends, so that the verdict can be read", async () => {
    const requests = vi.spyOn(globalThis, "fetch").mockImplementation(() => Promise.resolve(new Response(JSON.stringify({ episode_id: null }))));
    const { user, say } = open({ proposals: [makeProposal(1, { kind: "finish", answer: "" })] });
    await user.keyboard("1");
    say({ type: "snapshot", state: makeEpisodeState({ status: "finished", outcome: "success", proposals: [] }), control: "mine", acts_as: null });
    expect(await screen.findByText("Task finished")).toBeDefined();
    expect(claims(requests.mock.calls)).toHaveLength(0);
  });

  it("never accepts what is no action", async () => {
    const { user, commands } = open();
    await user.keyboard("3");
    expect(commands()).toEqual([]);
    expect(screen.getByText("The call has no closing bracket.")).toBeDefined();
  });

  it("sends a candidate with another thought as an edit, and shows what was changed", async () => {
    const { user, commands } = open();
    await user.keyboard("{Shift>}1{/Shift}");
    expect(thought().value).toBe("The menu has Rename.");
    expect(document.activeElement).toBe(thought());
    await user.type(thought(), " Now.");
    expect(screen.getByLabelText("Changes to the candidate's thought").querySelector("ins")?.textContent).toContain("Now.");
    await user.keyboard("{Enter}");
    expect(commands()).toMatchObject([{ type: "accept", proposal_id: "proposal-1", thought: "The menu has Rename. Now." }]);
    expect(thought().value).toBe("");
  });

  it("does all actions of a candidate, or those that are left in", async () => {
    const several = makeProposal(1, { kind: "click", x: 5, y: 5 }, {
      further_actions: [{ kind: "type_text", text: "report" }, { kind: "press_keys", keys: ["enter"] }],
    });
    const { user, commands } = open({ proposals: [several] });
    expect(screen.getByText(/3 actions, one after another/)).toBeDefined();
    await user.keyboard("1");
    await user.keyboard("---");
    expect(screen.getByText(/Only the first of 3 actions/)).toBeDefined();
    await user.keyboard("+{Enter}");
    await user.keyboard("-++1");
    await user.click(screen.getByRole("button", { name: "Accept the first action" }));
    expect(commands()).toMatchObject([
      { type: "accept", proposal_id: "proposal-1", actions: null },
      { type: "accept", actions: 2 },
      { type: "accept", actions: null },
      { type: "accept", actions: 1 },
    ]);
  });

  it("edits the first action of several alone, as the composer shows it", async () => {
    const several = makeProposal(1, { kind: "click", x: 5, y: 5 }, { further_actions: [{ kind: "wait", seconds: 1 }] });
    const { user, commands } = open({ proposals: [several] });
    await user.keyboard("{Shift>}1{/Shift}");
    await user.type(thought(), " Now.");
    await user.keyboard("{Enter}");
    expect(commands()).toMatchObject([{ type: "accept", actions: 1, thought: "Thought 1 Now." }]);
  });

  it("says that a candidate was stale, and goes on", async () => {
    const { user, commands, say } = open();
    await user.keyboard("1");
    const [command] = commands();
    if (command === undefined || !("command_id" in command)) throw new Error("nothing was sent");
    say({ type: "rejected", command_id: command.command_id, code: "stale_accept", message: "stale" });
    expect(screen.getByRole("alert").textContent).toContain("the screen has moved on");
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("alert")).toBeNull();
  });

  it("marks candidates in turn", async () => {
    const { user, commands } = open();
    await user.keyboard("{Alt>}2{/Alt}");
    expect(commands()).toMatchObject([{ type: "mark", proposal_id: "proposal-2", mark: "acceptable" }]);
  });
});

describe("holding keys", () => {
  const able = { capabilities: ["click", "mouse_click", "drag_path", "press", "release", "press_keys"], thought_required: false };

  it("holds keys during what is drafted, and lets go of them again", async () => {
    const { user, commands } = open({ ...able, proposals: [makeProposal(1, { kind: "click", x: 5, y: 5 })] });
    await user.keyboard("{Shift>}1{/Shift}");
    await user.click(screen.getByRole("button", { name: "Ctrl" }));
    await user.click(screen.getByRole("button", { name: "Shift" }));
    await user.click(screen.getByRole("button", { name: "Ctrl" }));
    expect(screen.getByRole("button", { name: "Shift" }).getAttribute("aria-pressed")).toBe("true");
    await user.click(screen.getByRole("button", { name: /^Do it/ }));
    expect(commands()).toMatchObject([
      { type: "act", action: { kind: "mouse_click", point: { x: 5, y: 5 }, button: "left", clicks: 1, keys: ["shift"] } },
    ]);
  });

  it("presses one key and keeps it down, and lets go of it", async () => {
    const { user, commands } = open(able);
    await user.keyboard("{Shift>}K{/Shift}");
    await user.keyboard("{Control}");
    await user.keyboard("{Alt>}k{/Alt}");
    await user.keyboard("a");
    expect(commands()).toMatchObject([
      { type: "act", action: { kind: "press", key: "ctrl" } },
      { type: "act", action: { kind: "release", key: "a" } },
    ]);
  });
});

describe("overriding", () => {
  it("waits for the thought a pool requires, then does it with Enter", async () => {
    const { user, commands } = open();
    await user.keyboard("i");
    await user.type(screen.getByLabelText("Text to type"), "你好{Enter}");
    expect(commands()).toEqual([]);
    expect(document.activeElement).toBe(thought());
    await user.type(thought(), "It asks for a greeting.{Enter}");
    expect(commands()).toMatchObject([
      { type: "act", action: { kind: "type_text", text: "你好" }, thought: "It asks for a greeting.", proposal_id: null },
    ]);
  });

  it("never does another hotkey with the thought of a candidate", async () => {
    const save = makeProposal(1, { kind: "press_keys", keys: ["ctrl", "s"] }, { thought: "I save the file." });
    const { user, commands } = open({ proposals: [save] });
    await user.keyboard("{Shift>}1{/Shift}");
    await user.keyboard("{Escape}");
    await user.keyboard("k");
    await user.keyboard("{Control>}a{/Control}");
    expect(commands()).toEqual([]);
    expect(document.activeElement).toBe(thought());
    await user.keyboard("{Enter}");
    expect(commands()).toEqual([]);
    await user.keyboard("I select all.{Enter}");
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "press_keys", keys: ["ctrl", "a"] }, thought: "I select all." }]);
  });

  it("does not take the Enter that ends a composition", () => {
    const { commands } = open({ thought_required: false });
    fireEvent.keyDown(document.body, { key: "i", code: "KeyI" });
    const field = screen.getByLabelText("Text to type");
    fireEvent.change(field, { target: { value: "ni" } });
    fireEvent.keyDown(field, { key: "Enter", isComposing: true });
    expect(commands()).toEqual([]);
    fireEvent.keyDown(field, { key: "Enter" });
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "type_text", text: "ni" } }]);
  });

  it("catches a hotkey", async () => {
    const { user, commands } = open({ thought_required: false });
    await user.keyboard("k");
    await user.keyboard("{Control>}{Shift>}t{/Shift}{/Control}");
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "press_keys", keys: ["ctrl", "shift", "t"] } }]);
  });

  it("keeps the draft across a reload", async () => {
    const first = open();
    await first.user.type(thought(), "Half a thought");
    document.body.replaceChildren();
    open();
    expect(thought().value).toBe("Half a thought");
  });
});

describe("what may not be done", () => {
  it("sends nothing while another page has control, but can take it", async () => {
    const { user, commands } = open({}, "other");
    await user.keyboard("1{Enter}ra");
    expect(commands()).toEqual([]);
    await user.keyboard("g");
    expect(commands()).toMatchObject([{ type: "control" }]);
  });

  it.each([
    [{}, "This machine cannot go back."],
    [{ can_undo: true }, "There is no step to undo yet."],
    [{ can_undo: true, undo_blocked: true, steps: [STEP] }, "The last step cannot be undone: the machine did not keep how it was before."],
  ])("says why a step cannot be undone, and asks nobody", async (state, why) => {
    const { user, commands } = open(state);
    await user.keyboard("u");
    expect(screen.getByRole("alert").textContent).toBe(why);
    expect(commands()).toEqual([]);
  });

  it("goes on without a model", () => {
    open({ proposals: [], thinking: "failed", thinking_error: "connection refused" });
    expect(screen.getByText("The model does not answer")).toBeDefined();
    expect(screen.getByText("connection refused")).toBeDefined();
    expect(thought().readOnly).toBe(false);
  });

  it("names the policy that failed, not the one that proposed before", () => {
    const policy: PolicyRef = { name: "steady", revision: "1", dialect: "ui_tars_1_5", scripted: false, teacher: false };
    const failed = { ...policy, name: "absent", revision: "7" };
    open({ proposals: [], policy, thinking: "failed", thinking_error: "no such model", thinking_policy: failed });
    const panel = screen.getByRole("region", { name: "Proposals" });
    expect(within(panel).getByText("absent 7")).toBeDefined();
    expect(within(panel).queryByText("steady 1")).toBeNull();
  });
});

describe("the whole task", () => {
  it("stops the autopilot with Escape, and before an act of one's own", async () => {
    const { user, commands } = open({ autopilot: true });
    await user.keyboard("{Escape}");
    await user.keyboard("1");
    expect(commands().map(({ type }) => type)).toEqual(["autopilot", "autopilot", "accept"]);
    expect(commands()[0]).toMatchObject({ on: false });
  });

  it("ends with an outcome and an answer", async () => {
    const { user, commands } = open();
    await user.keyboard("f");
    await user.type(await screen.findByLabelText("Answer"), "42{Control>}{Enter}{/Control}");
    expect(commands()).toMatchObject([{ type: "finish", outcome: "success", answer: "42" }]);
  });

  it("finishes as infeasible from the same dialog, with a reason", async () => {
    const { user, commands } = open();
    await user.keyboard("f");
    await user.click(await screen.findByRole("radio", { name: "Infeasible" }));
    await user.type(screen.getByLabelText(/Why/), "No such file");
    await user.keyboard("{Control>}{Enter}{/Control}");
    expect(commands()).toMatchObject([{ type: "finish", outcome: "infeasible", answer: "", reason: "No such file" }]);
  });

  it("shows both judgements, and that they differ", () => {
    open({ status: "finished", proposals: [], outcome: "success", verdict: { success: false, score: 0.5, reason: "not open", verifier: "", version: "", points: null, error: "" } });
    expect(screen.getByText("Success")).toBeDefined();
    expect(screen.getByText("Not verified")).toBeDefined();
    expect(screen.getByRole("alert").textContent).toContain("disagree");
  });
});

describe("a phone", () => {
  const phone = (changed: Partial<EpisodeState> = {}) =>
    open({
      task: { ...makeEpisodeState().task, platform: "phone" },
      capabilities: ["click", "long_press", "swipe", "open_app", "press_home", "press_back", "type_text"],
      thought_required: false,
      ...changed,
    });
  const acts = (commands: () => Command[]) => commands().map((command) => ("action" in command ? command.action : command.type));

  it("has its buttons on keys of the keyboard", async () => {
    const { user, commands } = phone();
    await user.keyboard("{Home}{Backspace}");
    expect(acts(commands)).toEqual([{ kind: "press_home" }, { kind: "press_back" }]);
  });

  it("opens an app by name, listed or not", async () => {
    const { user, commands } = phone();
    await user.keyboard("q");
    await user.keyboard("Camera{Enter}");
    expect(acts(commands)).toEqual([{ kind: "open_app", name: "Camera" }]);
  });

  it("gives no buttons to who only watches, and a desktop none at all", () => {
    phone({ status: "paused" });
    expect(screen.getByRole<HTMLButtonElement>("button", { name: /^Home/ }).disabled).toBe(true);
    open();
    expect(screen.queryAllByRole("button", { name: /^Home/ })).toHaveLength(1);
  });
});

describe("a policy's use of a secret", () => {
  const requests = (autopilot: boolean) => ({
    proposal_id: "proposal-2",
    uses: [{ name: "PASSWORD", host: "shop.example", application: "" }],
    kind: "type_text",
    thought: "I sign in.",
    continued_characters: 0,
    autopilot,
    actions: null,
  });

  it("is shown with secret, host and reason, and refused unless somebody allows it", async () => {
    const { user, commands } = open({ secret_requests: [requests(true)], autopilot: true });
    const dialog = await screen.findByRole("dialog", { name: "Use of a secret" });
    for (const words of ["PASSWORD", "shop.example", "I sign in."]) expect(dialog.textContent).toContain(words);
    expect(document.activeElement?.textContent).toBe("Do not allow");
    await user.keyboard("{Enter}");
    expect(commands()).toMatchObject([{ type: "secrets", proposal_id: "proposal-2", allow: false }]);
    expect(screen.queryByRole("dialog")).toBeNull();
  });

  it("is refused by Escape, which leaves the rest to the server", async () => {
    const { user, commands } = open({ secret_requests: [requests(false)] });
    await screen.findByRole("dialog");
    await user.keyboard("{Escape}");
    expect(commands()).toMatchObject([{ type: "secrets", allow: false }]);
  });

  it("lets what was accepted be done, with the thought it had then", async () => {
    const { user, commands } = open({ secret_requests: [requests(false)] });
    await user.click(await screen.findByRole("button", { name: "Allow" }));
    expect(commands()).toMatchObject([
      { type: "secrets", proposal_id: "proposal-2", allow: true },
      { type: "accept", proposal_id: "proposal-2", base_version: 0, thought: "I sign in." },
    ]);
  });

  it("is not asked about once the proposal is gone, the autopilot is off, or by who only watches", () => {
    open({ secret_requests: [{ ...requests(false), proposal_id: "gone" }] });
    open({ secret_requests: [requests(true)] });
    open({ secret_requests: [requests(false)] }, "other");
    expect(screen.queryByRole("dialog")).toBeNull();
  });
});

describe("a task whose machine is gone", () => {
  it("says why and is left, which gives it back", async () => {
    const { user, commands } = open({ status: "failed", error: "the bridge was shut down", proposals: [] });
    expect(screen.getByText("the bridge was shut down")).toBeDefined();
    expect(screen.getByText(/Leave the task, and it starts afresh/)).toBeDefined();
    await user.keyboard("l");
    const dialog = within(await screen.findByRole("dialog"));
    await user.click(dialog.getByRole("button", { name: /^Release/ }));
    expect(commands()).toMatchObject([{ type: "leave", how: "release" }]);
  });
});
