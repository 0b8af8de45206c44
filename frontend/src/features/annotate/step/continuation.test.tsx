/** What the policy would write next, behind the caret: asked for after a pause, taken with Tab, a word at a time, or typed over. */
import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { EpisodeState, TextContinued } from "@/generated/vocabulary";
import { makeProposal, OBSERVATION, POLICY, STEP } from "@/features/annotate/testing/fixtures";
import { renderWorkspace } from "@/features/annotate/testing/harness";

import { firstWord, PAUSE_MS } from "./use-continuation";

const PROPOSALS = [makeProposal(1, { kind: "click", x: 5, y: 5 }, { thought: "The menu." })];
const field = () => screen.getByPlaceholderText<HTMLTextAreaElement>("Why this step?");
const ghost = () => screen.queryByTestId("continuation")?.querySelector("i")?.textContent ?? null;
const write = (text: string) => fireEvent.change(field(), { target: { value: text } });
const press = (key: string, more: KeyboardEventInit = {}) => fireEvent.keyDown(field(), { key, ...more });
const edit = () => fireEvent.keyDown(document.body, { key: "!", code: "Digit1", shiftKey: true });

function open(changed: Partial<EpisodeState> = {}) {
  vi.useFakeTimers();
  const page = renderWorkspace({ proposals: PROPOSALS, observation: null, ...changed });
  const { questions } = page;
  const pause = () => act(() => void vi.advanceTimersByTime(PAUSE_MS));
  const answer = (text: string, more: Partial<TextContinued> = {}) =>
    page.say({ type: "text.continued", request: questions().at(-1)?.request ?? 0, text, policy: POLICY, code: "", ...more });
  const offered = (typed: string, text: string) => {
    write(typed);
    pause();
    answer(text);
  };
  const status = () => screen.getAllByRole("status").map(({ textContent }) => textContent).join("");
  return { ...page, pause, answer, offered, status };
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
  it("is asked for once after a pause, and shown behind the caret", () => {
    const { questions, pause, answer, status } = open();
    write("I op");
    expect(questions()).toEqual([]);
    pause();
    expect(questions()).toMatchObject([{ thought: "I op" }]);
    answer("en the menu.");
    expect(ghost()).toBe("en the menu.");
    expect(status()).toContain("en the menu.");
    pause();
    expect(questions()).toHaveLength(1);
  });

  it("is taken with Tab or the right arrow, and the step says how much of its thought that is", () => {
    const { commands, offered } = open();
    edit();
    offered("The menu. It h", "as Rename");
    press("Tab");
    expect(field().value).toBe("The menu. It has Rename");
    write("The menu. It has Rename.");
    press("Enter");
    expect(commands().at(-1)).toMatchObject({ type: "accept", thought: "The menu. It has Rename.", continued_characters: 9 });
  });

  it("is taken a word at a time, and goes on as one types along", () => {
    const { offered, questions, pause } = open();
    offered("I op", "en the menu");
    press("ArrowRight", { ctrlKey: true });
    expect([field().value, ghost()]).toEqual(["I open", " the menu"]);
    write("I open th");
    expect(ghost()).toBe("e menu");
    press("ArrowRight");
    expect(field().value).toBe("I open the menu");
    pause();
    expect(questions()).toHaveLength(2);
  });

  it("is announced once, not again at each key that is typed along", () => {
    const { offered, status } = open();
    offered("I op", "en the menu");
    const said = status();
    write("I open");
    press("ArrowRight", { ctrlKey: true });
    expect(ghost()).toBe(" menu");
    expect(status()).toBe(said);
  });

  it("is what a candidate says where that begins so, without a request; not what was just deleted of it", () => {
    const { questions, pause } = open();
    write("The m");
    pause();
    expect([ghost(), questions()]).toEqual(["enu.", []]);
    press("Tab");
    expect(field().value).toBe("The menu.");
    write("");
    edit();
    write("The menu");
    expect([field().value, ghost()]).toEqual(["The menu", null]);
  });

  it("is hidden by Escape and by other words, and Tab then leaves the field", () => {
    const { offered } = open();
    offered("I op", "en the menu");
    press("Escape");
    expect(ghost()).toBeNull();
    write("I o");
    offered("I ope", "rate it");
    write("I opx");
    expect(ghost()).toBeNull();
    expect(press("Tab")).toBe(true);
    expect(field().value).toBe("I opx");
  });

  it("is not shown where the answer is late, or the caret is elsewhere", () => {
    const { offered, questions, answer, pause } = open();
    offered("I op", "en the menu");
    field().setSelectionRange(2, 2);
    fireEvent.select(field());
    expect(ghost()).toBeNull();
    write("I ops");
    field().setSelectionRange(5, 5);
    fireEvent.select(field());
    pause();
    answer("old", { request: (questions().at(-1)?.request ?? 0) - 1 });
    expect(ghost()).toBeNull();
  });

  it("belongs to the screen that it was asked for: at the next step it is asked for again, and no longer hidden", () => {
    const { offered, questions, pause, answer, say } = open();
    offered("I op", "en the menu");
    expect(ghost()).toBe("en the menu");
    press("Escape");
    say({ type: "step.added", version: 5, step: STEP, pending: null });
    say({ type: "proposals.ready", version: 6, proposals: [], policy: POLICY });
    expect([field().value, ghost()]).toEqual(["I op", null]);
    pause();
    expect(questions()).toHaveLength(2);
    answer("en the file");
    expect(ghost()).toBe("en the file");
    say({ type: "proposals.withdrawn", version: 7, reason: "screen_changed", observation: { ...OBSERVATION, captured_at: "2026-01-02T03:04:06Z" } });
    expect(ghost()).toBeNull();
  });

  it.each<[string, Partial<EpisodeState>]>([
    ["the pool does not allow it", { text_continuation: false }],
    ["proposals are being thought", { thinking: "streaming", proposals: [] }],
  ])("is not asked for where %s", (_, state) => {
    const { questions, pause } = open(state);
    write("I open");
    pause();
    expect(questions()).toEqual([]);
  });

  it("is not offered from candidates where the pool does not allow it", () => {
    open({ text_continuation: false });
    write("The m");
    expect(ghost()).toBeNull();
  });

  it("is not offered to a page that lost control", () => {
    const { say } = open();
    write("The m");
    expect(ghost()).toBe("enu.");
    say({ type: "control.changed", control: "other", holder: "Ben" });
    expect(ghost()).toBeNull();
    press("Tab");
    expect(field().value).toBe("The m");
  });

  it("is asked for no more where the policy cannot, until there is another one; an earlier one does not count", () => {
    const { say, questions, pause, answer } = open();
    write("I op");
    pause();
    answer("", { code: "unsupported", policy: { ...POLICY, revision: "r0" } });
    write("I open");
    pause();
    expect(questions()).toHaveLength(2);
    answer("", { code: "unsupported", policy: POLICY });
    write("I open it");
    pause();
    expect(questions()).toHaveLength(2);
    say({ type: "proposals.ready", version: 5, proposals: PROPOSALS, policy: { ...POLICY, revision: "r2" } });
    pause();
    expect(questions()).toHaveLength(3);
  });

  it("is asked for again at the next step where the policy could not: its server may be mended", () => {
    const { say, questions, pause, answer } = open();
    write("I op");
    pause();
    answer("", { code: "unsupported" });
    say({ type: "step.added", version: 5, step: STEP, pending: null });
    say({ type: "proposals.ready", version: 6, proposals: [], policy: POLICY });
    pause();
    expect(questions()).toHaveLength(2);
  });

  it("names the keys of the computer at hand", () => {
    vi.spyOn(navigator, "platform", "get").mockReturnValue("MacIntel");
    const { offered, status } = open();
    offered("I op", "en the menu");
    expect(status()).toContain("Option+Right");
  });
});

it("is never asked for in a text for the machine, which may be a password", () => {
  const { questions, pause } = open();
  fireEvent.click(screen.getByRole("radio", { name: "Type" }));
  fireEvent.change(screen.getByLabelText(/Text to type/), { target: { value: "hunter2" } });
  pause();
  expect(questions()).toEqual([]);
});

it.each([
  ["en the menu", "en"],
  [" the menu", " the"],
  ["Rename. Then", "Rename."],
  ["打开菜单，再重命名", "打开"],
  [" …", " …"],
])("takes the first word of %j", (text, word) => {
  expect(firstWord(text)).toBe(word);
});
