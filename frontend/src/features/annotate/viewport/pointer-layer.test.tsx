/** Pointing at the picture: what becomes the draft, what is cancelled and what is refused. */
import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { makeEpisodeState, makeProposal } from "@/features/annotate/testing/fixtures";
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
