// @vitest-environment jsdom -- happy-dom has no composition events
/** A takeover in the page: what the machine is sent, and that nothing stays down there. */
import { act, createEvent, fireEvent, screen } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, onTestFinished, vi } from "vitest";

import type { InputEvent } from "@/generated/vocabulary";
import { makeEpisodeState } from "@/features/annotate/testing/fixtures";
import { renderWorkspace } from "@/features/annotate/testing/harness";

const { capabilities } = makeEpisodeState();
/** One picture frame. */
const FRAME_MS = 20;

function takeOver() {
  const page = renderWorkspace({ takeover: true, capabilities: [...capabilities, "gesture"] });
  const field = screen.getByRole<HTMLTextAreaElement>("textbox", { name: "Keys for the machine" });
  const batches = (): InputEvent[][] => page.commands().flatMap((command) => (command.type === "input" ? [command.inputs] : []));
  const pass = (milliseconds: number) =>
    act(() => {
      vi.advanceTimersByTime(milliseconds);
    });
  return { ...page, field, batches, sent: () => batches().flat(), pass };
}

beforeEach(() => {
  sessionStorage.clear();
  vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout", "setInterval", "clearInterval", "requestAnimationFrame"] });
});
afterEach(() => vi.useRealTimers());

describe("a takeover", () => {
  it("gives input methods a field, and the machine what they write, once", () => {
    const { field, sent, pass } = takeOver();
    expect(document.activeElement).toBe(field);
    fireEvent.keyDown(field, { key: "Process", code: "KeyN", keyCode: 229 });
    fireEvent.compositionStart(field);
    fireEvent.input(field, { target: { value: "ni" }, inputType: "insertCompositionText", data: "ni", isComposing: true });
    fireEvent.compositionEnd(field, { data: "你" });
    pass(FRAME_MS);
    expect(sent()).toEqual([{ kind: "type_text", text: "你" }]);
    expect(field.value).toBe("");
    expect(screen.getByRole<HTMLTextAreaElement>("textbox", { name: /Thought/ }).value).toBe("");
  });

  it("types what is pasted, once, and writes nothing into the page", () => {
    const { field, sent, pass } = takeOver();
    fireEvent.keyDown(field, { key: "Control", code: "ControlLeft", ctrlKey: true });
    const key = createEvent.keyDown(field, { key: "v", code: "KeyV", ctrlKey: true });
    fireEvent(field, key);
    const paste = createEvent.paste(field, { clipboardData: { getData: () => "one\r\ntwo" } });
    fireEvent(field, paste);
    fireEvent.keyUp(field, { key: "v", code: "KeyV", ctrlKey: true });
    fireEvent.keyUp(field, { key: "Control", code: "ControlLeft" });
    pass(FRAME_MS);
    expect([key.defaultPrevented, paste.defaultPrevented]).toEqual([false, true]);
    expect(sent()).toEqual([{ kind: "type_text", text: "one\ntwo" }]);
  });

  it("offers no candidate to accept meanwhile", () => {
    takeOver();
    const button = screen.getByRole<HTMLButtonElement>("button", { name: /You have the machine/ });
    expect(button.disabled).toBe(true);
  });

  it("keeps the keys from every other field", () => {
    const { field } = takeOver();
    act(() => {
      screen.getByRole("textbox", { name: /Thought/ }).focus();
    });
    expect(document.activeElement).toBe(field);
  });

  it("lets nothing go when the page shows something new", () => {
    const { field, sent, say, pass } = takeOver();
    fireEvent.keyDown(field, { key: "a", code: "KeyA" });
    say({ type: "proposals.thinking", policy: null, thinking: "waiting", partials: [], message: "", code: "" });
    pass(FRAME_MS);
    expect(sent()).toEqual([{ kind: "press", key: "a" }]);
  });

  it("says that what is held is still held, and no more once nothing is", () => {
    const { field, batches, pass } = takeOver();
    fireEvent.keyDown(field, { key: "a", code: "KeyA" });
    pass(1_000);
    const beats = batches().filter(({ length }) => length === 0).length;
    expect(beats).toBeGreaterThanOrEqual(3);
    fireEvent.keyUp(field, { key: "a", code: "KeyA" });
    pass(FRAME_MS);
    const before = batches().length;
    pass(1_000);
    expect(batches()).toHaveLength(before);
  });

  it("lets everything go when the page loses the focus", () => {
    const { field, sent } = takeOver();
    fireEvent.keyDown(field, { key: "a", code: "KeyA" });
    fireEvent.blur(window);
    expect(sent()).toEqual([{ kind: "press", key: "a" }, { kind: "release", key: "a" }]);
  });

  it("sends nothing when it is left", () => {
    const { field, sent, pass } = takeOver();
    for (let press = 0; press < 2; press += 1) {
      fireEvent.keyDown(field, { key: "Escape", code: "Escape" });
      fireEvent.keyUp(field, { key: "Escape", code: "Escape" });
    }
    expect(screen.getByRole("dialog", { name: "End the takeover" })).toBeDefined();
    pass(2_000);
    expect(sent()).toEqual([]);
  });

  it("scrolls in both axes, a notch at a time", () => {
    const { sent, pass } = takeOver();
    const machine = screen.getByRole("application");
    for (const turn of [{ deltaX: 60 }, { deltaX: 60, deltaY: -250 }, { deltaX: -120, deltaY: 40 }]) fireEvent.wheel(machine, turn);
    pass(FRAME_MS);
    expect(sent()).toMatchObject([
      { kind: "scroll", direction: "up", amount: 2 },
      { kind: "scroll", direction: "right", amount: 1 },
      { kind: "scroll", direction: "left", amount: 1 },
    ]);
  });

  it("clicks by a finger's tap, and by the right button where it lies still", () => {
    const { sent, pass } = takeOver();
    const machine = screen.getByRole("application");
    vi.spyOn(machine, "getBoundingClientRect").mockReturnValue(new DOMRect(0, 0, 1280, 720));
    machine.setPointerCapture = () => undefined;
    const finger = { button: 0, pointerId: 1, pointerType: "touch", clientX: 300, clientY: 200 };
    fireEvent.pointerDown(machine, finger);
    fireEvent.pointerUp(machine, finger);
    pass(FRAME_MS);
    fireEvent.pointerDown(machine, finger);
    pass(700);
    fireEvent.pointerUp(machine, finger);
    pass(FRAME_MS);
    const point = { x: 300, y: 200 };
    expect(sent()).toEqual(
      (["left", "right"] as const).flatMap((button) => [
        { kind: "mouse_down", point, button },
        { kind: "mouse_up", point, button },
      ]),
    );
  });

  it("scrolls by two fingers", () => {
    const { sent, pass } = takeOver();
    const machine = screen.getByRole("application");
    vi.spyOn(machine, "getBoundingClientRect").mockReturnValue(new DOMRect(0, 0, 1280, 720));
    machine.setPointerCapture = () => undefined;
    const finger = (id: number, clientY: number) => ({ button: 0, pointerId: id, pointerType: "touch", clientX: 300 * id, clientY });
    for (const id of [1, 2]) fireEvent.pointerDown(machine, finger(id, 500));
    for (const y of [450, 400, 350, 300]) for (const id of [1, 2]) fireEvent.pointerMove(machine, finger(id, y));
    for (const id of [1, 2]) fireEvent.pointerUp(machine, finger(id, 300));
    pass(FRAME_MS);
    expect(sent().map((input) => input.kind === "scroll" && input.direction)).toEqual(["down", "down"]);
  });

  it("has the keyboard of a touch screen wait until it is called up", () => {
    const ask = window.matchMedia;
    const media = vi.spyOn(window, "matchMedia").mockImplementation((query) => Object.assign(ask(query), { matches: query.includes("coarse") }));
    onTestFinished(() => media.mockRestore());
    const { field } = takeOver();
    expect(field.inputMode).toBe("none");
    fireEvent.click(screen.getByRole("button", { name: "Screen keyboard" }));
    expect([field.inputMode, document.activeElement]).toEqual(["text", field]);
    fireEvent.click(screen.getByRole("button", { name: "Screen keyboard" }));
    expect(field.inputMode).toBe("none");
  });

  it("sends a lone Escape", () => {
    const { field, sent, pass } = takeOver();
    fireEvent.keyDown(field, { key: "Escape", code: "Escape" });
    fireEvent.keyUp(field, { key: "Escape", code: "Escape" });
    pass(500);
    expect(sent()).toEqual([{ kind: "press", key: "esc" }, { kind: "release", key: "esc" }]);
  });
});
