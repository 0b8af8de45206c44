/** The strip of a long attempt: looking at another step draws that one and the last one again, and a card is made where somebody looks. */
import { MantineProvider } from "@mantine/core";
import { act, fireEvent, render, screen } from "@testing-library/react";
import { beforeEach, expect, it, vi } from "vitest";

import type { Step } from "@/generated/vocabulary";

import { Timeline } from "./timeline";

/** Every tile asks for its picture as it is drawn. */
const blobUrl = vi.fn((sha256: string) => `/blobs/${sha256}`);
const look = { screenshot: { sha256: "a", media_type: "image/png", size: 1 }, width: 100, height: 50, settle_ms: 1, settled: true };
const all = Array.from(
  { length: 240 },
  (_, index) =>
    ({ index, command_id: `step-${index}`, decision: "accept", action: { kind: "click", x: index, y: 1 }, before: look, after: look, thought: "", batch: null, not_done: [], provider_calls: [], error: null }) as unknown as Step,
);

const steps = all.slice(0, 60);

const strip = (current: number, onSelect: (index: number) => void = () => undefined, count = steps.length) => (
  <MantineProvider>
    <Timeline steps={count === steps.length ? steps : all.slice(0, count)} current={current} onSelect={onSelect} blobUrl={blobUrl} />
  </MantineProvider>
);

beforeEach(() => {
  blobUrl.mockClear();
});

it("draws all tiles in the end, also where it is opened far into them", () => {
  render(strip(180, undefined, 240));
  expect(screen.getAllByRole("button")).toHaveLength(240);
  expect(screen.getByRole("button", { current: "step" }).textContent).toContain("181");
});

it("draws the tile that is left and the one that is reached, and no other, whatever else is new", () => {
  const page = render(strip(0));
  expect(blobUrl).toHaveBeenCalledTimes(steps.length);
  blobUrl.mockClear();
  page.rerender(strip(47, () => undefined));
  expect(blobUrl).toHaveBeenCalledTimes(2);
  expect(screen.getByRole("button", { current: "step" }).textContent).toContain("48");
});

it("tells the latest listener which step is chosen", () => {
  const [earlier, later] = [vi.fn(), vi.fn()];
  const page = render(strip(0, earlier));
  page.rerender(strip(0, later));
  fireEvent.click(screen.getByRole("button", { name: /^Step 48:/ }));
  expect(later).toHaveBeenCalledExactlyOnceWith(47);
  expect(earlier).not.toHaveBeenCalled();
});

it("makes the card of a step where the mouse rests on it, and not for a finger", () => {
  vi.useFakeTimers();
  render(strip(0));
  const tile = screen.getByRole("button", { name: /^Step 48:/ });
  const pass = (milliseconds: number) => {
    act(() => {
      vi.advanceTimersByTime(milliseconds);
    });
  };
  fireEvent.pointerEnter(tile, { pointerType: "touch" });
  pass(1_000);
  expect(screen.queryByText("Before")).toBeNull();
  fireEvent.pointerEnter(tile, { pointerType: "mouse" });
  pass(100);
  expect(screen.queryByText("Before")).toBeNull();
  pass(400);
  expect(screen.getAllByText("Before")).not.toHaveLength(0);
  fireEvent.pointerLeave(tile, { pointerType: "mouse" });
  pass(1_000);
  expect(screen.queryByText("Before")).toBeNull();
  vi.useRealTimers();
});
