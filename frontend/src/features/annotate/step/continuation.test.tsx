/** What the policy would write next, behind the caret: asked for after a pause, taken with Tab, a word at a time, or typed over. */
import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { Command, ContinueText, EpisodeState, TextContinued } from "@/generated/vocabulary";
import { makeProposal, POLICY } from "@/features/annotate/testing/fixtures";
import { renderWorkspace } from "@/features/annotate/testing/harness";

import { PAUSE_MS } from "./use-continuation";

const PROPOSALS = [makeProposal(1, { kind: "click", x: 5, y: 5 }, { thought: "The menu." })];
const field = () => screen.getByPlaceholderText<HTMLTextAreaElement>("Why this step?");
const ghost = () => screen.queryByTestId("continuation")?.querySelector("i")?.textContent ?? null;
const isQuestion = (command: Command): command is ContinueText => command.type === "continue";

function open(changed: Partial<EpisodeState> = {}) {
  vi.useFakeTimers({ shouldAdvanceTime: true });
  const page = renderWorkspace({ proposals: PROPOSALS, observation: null, ...changed });
  const questions = () => page.commands().filter(isQuestion);
  const pause = () => act(() => void vi.advanceTimersByTime(PAUSE_MS));
  const answer = (text: string, more: Partial<TextContinued> = {}) =>
    page.say({ type: "text.continued", request: questions().at(-1)?.request ?? 0, text, code: "", ...more });
  const offered = async (typed: string, text: string) => {
    await page.user.type(field(), typed);
    pause();
    answer(text);
  };
  return { ...page, questions, pause, answer, offered };
}

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  return () => {
    vi.useRealTimers();
    vi.restoreAllMocks();
  };
});

describe("the continuation of a thought", () => {
  it("is asked for once after a pause, and shown behind the caret", async () => {
    const { user, questions, pause, answer } = open();
    await user.type(field(), "I op");
    expect(questions()).toEqual([]);
    pause();
    expect(questions()).toMatchObject([{ thought: "I op" }]);
    answer("en the menu.");
    expect(ghost()).toBe("en the menu.");
    expect(screen.getAllByRole("status").map(({ textContent }) => textContent).join("")).toContain("en the menu.");
    pause();
    expect(questions()).toHaveLength(1);
  });

  it("is taken with Tab or the right arrow, and the step says how much of its thought that is", async () => {
    const { user, commands, offered } = open();
    await user.keyboard("{Shift>}1{/Shift}");
    await offered(" It h", "as Rename");
    await user.keyboard("{Tab}");
    expect(field().value).toBe("The menu. It has Rename");
    expect(document.activeElement).toBe(field());
    await user.keyboard(".{Enter}");
    expect(commands().at(-1)).toMatchObject({ type: "accept", thought: "The menu. It has Rename.", continued_characters: 9 });
  });

  it("is taken a word at a time, and goes on as one types along", async () => {
    const { user, offered, questions, pause } = open();
    await offered("I op", "en the menu");
    await user.keyboard("{Control>}{ArrowRight}{/Control}");
    expect([field().value, ghost()]).toEqual(["I open", " the menu"]);
    await user.keyboard(" th");
    expect(ghost()).toBe("e menu");
    await user.keyboard("{ArrowRight}");
    expect(field().value).toBe("I open the menu");
    pause();
    expect(questions()).toHaveLength(2);
  });

  it("is what a candidate says where that begins so, and nobody is asked; not what was just deleted of it", async () => {
    const { user, questions, pause } = open();
    await user.type(field(), "The m");
    pause();
    expect([ghost(), questions()]).toEqual(["enu.", []]);
    await user.keyboard("{Tab}");
    expect(field().value).toBe("The menu.");
    await user.clear(field());
    await user.keyboard("{Escape}{Shift>}1{/Shift}{Backspace}");
    expect([field().value, ghost()]).toEqual(["The menu", null]);
  });

  it("is hidden by Escape and by other words, and Tab then leaves the field", async () => {
    const { user, offered } = open();
    await offered("I op", "en the menu");
    await user.keyboard("{Escape}");
    expect([ghost(), document.activeElement]).toEqual([null, field()]);
    await offered("era", "te it");
    await user.keyboard("x");
    expect(ghost()).toBeNull();
    expect(fireEvent.keyDown(field(), { key: "Tab" })).toBe(true);
    expect(field().value).toBe("I operax");
  });

  it("is not shown where the answer is late, or the caret is elsewhere", async () => {
    const { user, offered, questions, answer, pause } = open();
    await offered("I op", "en the menu");
    await user.keyboard("{ArrowLeft}");
    expect(ghost()).toBeNull();
    await user.keyboard("{ArrowRight}s");
    pause();
    answer("old", { request: (questions().at(-1)?.request ?? 0) - 1 });
    expect(ghost()).toBeNull();
  });

  it.each<[string, Partial<EpisodeState>]>([
    ["the pool does not allow it", { text_continuation: false }],
    ["proposals are being thought", { thinking: "streaming", proposals: [] }],
  ])("is not asked for where %s", async (_, state) => {
    const { user, questions, pause } = open(state);
    await user.type(field(), "I open");
    pause();
    expect(questions()).toEqual([]);
  });

  it("is asked for no more where the policy cannot, until there is another one", async () => {
    const { user, say, questions, pause, answer } = open();
    await user.type(field(), "I op");
    pause();
    answer("", { code: "unsupported" });
    await user.keyboard("en");
    pause();
    expect(questions()).toHaveLength(1);
    say({ type: "proposals.ready", version: 5, proposals: PROPOSALS, policy: { ...POLICY, revision: "r2" } });
    pause();
    expect(questions()).toHaveLength(2);
  });
});

it("is never asked for in a text for the machine, which may be a password", async () => {
  const { user, questions, pause } = open();
  await user.click(screen.getByRole("radio", { name: "Type" }));
  await user.keyboard("hunter2");
  pause();
  expect(questions()).toEqual([]);
});
