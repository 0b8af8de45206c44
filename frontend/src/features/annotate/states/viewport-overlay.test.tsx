/** What covers the picture while there is nothing to act on: the machine starts, none is free, the task is paused. */
import { act, screen } from "@testing-library/react";
import { afterEach, expect, it } from "vitest";

import { renderWorkspace } from "@/features/annotate/testing/harness";

// Queries of tests that come later in this process wait for a network.
afterEach(() => void window.dispatchEvent(new Event("online")));

const branch = { episode: "e0", steps: 3, state: "wanted", reason: "" } as const;

it("says that the machine starts, and offers to leave", async () => {
  const { user, commands } = renderWorkspace({ status: "warming", observation: null });
  expect(screen.getByText("The machine is starting")).toBeDefined();
  await user.keyboard("1{Enter}");
  expect(commands()).toEqual([]);
  expect(screen.getByRole("button", { name: /Leave/ }).getAttribute("aria-disabled")).toBe("false");
});

it("says why no machine is free, in the bridge's words", () => {
  renderWorkspace({ status: "warming", observation: null, error: "all 4 desktops are taken" });
  expect(screen.getByText("No machine is free yet")).toBeDefined();
  expect(screen.getByText(/all 4 desktops are taken/)).toBeDefined();
});

it("says that earlier steps are done again first", () => {
  renderWorkspace({ status: "warming", observation: null, branch_of: branch });
  expect(screen.getByText(/3 steps/)).toBeDefined();
});

it("pauses and resumes with one key", async () => {
  const { user, commands } = renderWorkspace({ status: "paused", observation: null });
  expect(screen.getByText("Paused")).toBeDefined();
  await user.keyboard("p");
  expect(commands()).toMatchObject([{ type: "pause", on: false }]);
});

it("says why a task went back to its pool", () => {
  renderWorkspace({ status: "left", outcome: null, observation: null, error: "The lease ran out; the task went back to its pool." });
  expect(screen.getByText(/went back to its pool/)).toBeDefined();
});

it("shows on top at once that the network is gone", () => {
  renderWorkspace({ observation: null });
  act(() => void window.dispatchEvent(new Event("offline")));
  expect(screen.getByText(/You are offline/)).toBeDefined();
});
