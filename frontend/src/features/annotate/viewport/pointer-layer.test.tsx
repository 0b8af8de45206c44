// @vitest-environment jsdom -- in happy-dom, a turn of the wheel has no held keys
/** Pointing at the picture: what becomes the draft, what is cancelled and what is refused. */
import { act, fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { makeEpisodeState, makeProposal, STEP } from "@/features/annotate/testing/fixtures";
import { renderWorkspace } from "@/features/annotate/testing/harness";

const WITH_KEYS = [...makeEpisodeState().capabilities, "mouse_click"];

function point(changed: Parameters<typeof renderWorkspace>[0] = {}) {
  const page = renderWorkspace({ thought_required: false, ...changed });
  const picture = screen.getByRole("application");
  vi.spyOn(picture, "getBoundingClientRect").mockReturnValue(new DOMRect(0, 0, 1280, 720));
  picture.setPointerCapture = () => undefined;
  const drag = (to: { clientX: number; clientY: number }) => {
    fireEvent.pointerDown(picture, { button: 0, clientX: 100, clientY: 100 });
    fireEvent.pointerMove(picture, { clientX: 300, clientY: 300 });
    fireEvent.pointerMove(picture, to);
    fireEvent.pointerUp(picture, { button: 0, ...to });
  };
  const line = () => {
    const written = screen.getByTestId("command-line").querySelector(".cm-line");
    return written?.querySelector(".cm-placeholder") === null ? written.textContent : "";
  };
  return { ...page, picture, drag, line };
}

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

describe("pointing", () => {
  it("composes a drag that ends on the picture, and cancels one that ends beside it", () => {
    const { drag, line } = point();
    drag({ clientX: 1500, clientY: 300 });
    expect(line()).not.toContain("drag");
    drag({ clientX: 400, clientY: 300 });
    expect(line()).toContain("drag");
  });

  it("does with one finger what it means, and with two no act but a scroll", () => {
    const { picture, line } = point();
    const touch = (id: number, clientX: number, clientY: number) => ({ button: 0, pointerId: id, pointerType: "touch", clientX, clientY });
    fireEvent.pointerDown(picture, touch(1, 100, 100));
    fireEvent.pointerMove(picture, touch(1, 108, 104));
    fireEvent.pointerUp(picture, touch(1, 108, 104));
    expect(line(), "a finger that rolls").toContain("click");
    expect(line()).not.toContain("drag");
    fireEvent.keyDown(picture, { key: "Escape", code: "Escape" });
    const before = line();
    for (const id of [1, 2]) fireEvent.pointerDown(picture, touch(id, 200 * id, 300));
    for (const id of [1, 2]) fireEvent.pointerUp(picture, touch(id, 200 * id, 300));
    expect(line(), "a tap of two").toBe(before);
    for (const id of [1, 2]) fireEvent.pointerDown(picture, touch(id, 200 * id, 300));
    for (let y = 290; y >= 100; y -= 10) for (const id of [1, 2]) fireEvent.pointerMove(picture, touch(id, 200 * id, y));
    for (const id of [1, 2]) fireEvent.pointerUp(picture, touch(id, 200 * id, 100));
    expect(line()).toMatch(/scroll.*down/);
  });

  it("takes a long press of a finger for the right button, and zooms the view by two", () => {
    vi.useFakeTimers({ toFake: ["setTimeout", "clearTimeout"] });
    const { picture, line } = point();
    const touch = (id: number, clientX: number) => ({ button: 0, pointerId: id, pointerType: "touch", clientX, clientY: 300 });
    fireEvent.pointerDown(picture, touch(1, 200));
    act(() => {
      vi.advanceTimersByTime(700);
    });
    fireEvent.pointerUp(picture, touch(1, 200));
    expect(line()).toContain("right");
    const before = line();
    for (const id of [1, 2]) fireEvent.pointerDown(picture, touch(id, 200 * id));
    fireEvent.pointerMove(picture, touch(2, 700));
    for (const id of [1, 2]) fireEvent.pointerUp(picture, touch(id, 200 * id));
    vi.useRealTimers();
    expect(line()).toBe(before);
    expect(picture.parentElement?.style.transform).toContain("scale(2.5)");
  });

  it("cancels a drag with Escape", () => {
    const { picture, line } = point();
    fireEvent.pointerDown(picture, { button: 0, clientX: 100, clientY: 100 });
    fireEvent.pointerMove(picture, { clientX: 300, clientY: 300 });
    fireEvent.keyDown(picture, { key: "Escape", code: "Escape" });
    fireEvent.pointerUp(picture, { button: 0, clientX: 300, clientY: 300 });
    expect(line()).not.toContain("drag");
  });

  it("holds the keys that are down, during a click and a scroll", () => {
    const { picture, line } = point({ capabilities: WITH_KEYS });
    fireEvent.pointerDown(picture, { button: 0, clientX: 100, clientY: 100, ctrlKey: true });
    fireEvent.pointerUp(picture, { button: 0, clientX: 100, clientY: 100 });
    expect(line()).toMatch(/mouse_click.*ctrl/);
    fireEvent.wheel(picture, { deltaY: 300, clientX: 100, clientY: 100, ctrlKey: true });
    expect(line()).toMatch(/scroll_by.*ctrl/);
  });

  it("refuses a click with a key held where the machine cannot", () => {
    const { picture, line } = point();
    fireEvent.pointerDown(picture, { button: 0, clientX: 100, clientY: 100, ctrlKey: true });
    fireEvent.pointerUp(picture, { button: 0, clientX: 100, clientY: 100 });
    expect(screen.getByRole("alert").textContent).toContain("Ctrl");
    expect(line()).toBe("");
  });

  it("pastes nothing with a middle click", () => {
    const { picture } = point();
    expect(fireEvent.mouseUp(picture, { button: 1 })).toBe(false);
    expect(fireEvent(picture, new MouseEvent("auxclick", { button: 1, bubbles: true, cancelable: true }))).toBe(false);
  });
});

describe("the autopilot", () => {
  it("stops on Escape although something on the page swallows the key", () => {
    const { commands } = point({ autopilot: true, proposals: [makeProposal(1, { kind: "click", x: 1, y: 1 })] });
    const swallow = (event: Event) => event.stopPropagation();
    document.addEventListener("keydown", swallow, true);
    fireEvent.keyDown(document.body, { key: "Escape", code: "Escape" });
    document.removeEventListener("keydown", swallow, true);
    expect(commands()).toMatchObject([{ type: "autopilot", on: false }]);
  });
});

describe("pointing by keys", () => {
  const marked = [makeProposal(1, { kind: "click", x: 900, y: 360 }), makeProposal(2, { kind: "click", x: 300, y: 360 })];
  const arrow = (picture: HTMLElement, key: string, ctrlKey = true) => fireEvent.keyDown(picture, { key, code: key, ctrlKey });

  it("jumps from marker to marker with Ctrl and an arrow, and clicks there", () => {
    const { picture, line } = point({ proposals: marked });
    arrow(picture, "ArrowRight");
    expect(screen.getByText("900, 360")).toBeDefined();
    arrow(picture, "ArrowLeft");
    expect(screen.getByText("300, 360")).toBeDefined();
    fireEvent.keyDown(picture, { key: "Enter", code: "Enter" });
    expect(line()).toBe("click(300, 360)");
  });

  it("hides the magnifier after each act, until something is pointed at again", () => {
    const { picture, say } = point({ proposals: marked });
    arrow(picture, "ArrowRight");
    say({ type: "snapshot", state: makeEpisodeState({ proposals: marked, steps: [STEP] }), control: "mine", acts_as: null });
    expect(screen.queryByText("900, 360")).toBeNull();
    arrow(picture, "ArrowLeft", false);
    expect(screen.getByText("892, 360")).toBeDefined();
  });

  it("hides the markers until the next step, and shows them again with the same key", async () => {
    const { picture, say, user } = point({ proposals: marked });
    const jumps = () => {
      fireEvent.pointerMove(picture, { clientX: 640, clientY: 360 });
      arrow(picture, "ArrowRight");
      return screen.queryByText("900, 360") !== null;
    };
    expect(jumps()).toBe(true);
    await user.keyboard("{Shift>}h{/Shift}");
    expect(jumps()).toBe(false);
    await user.keyboard("{Shift>}h{/Shift}");
    expect(jumps()).toBe(true);
    await user.keyboard("{Shift>}h{/Shift}");
    say({ type: "snapshot", state: makeEpisodeState({ proposals: marked, steps: [STEP] }), control: "mine", acts_as: null });
    expect(jumps()).toBe(true);
  });
});
