/** Steps that were done without their thought, over a session with a fake wire. */
import { fireEvent, screen } from "@testing-library/react";
import { beforeEach, describe, expect, it } from "vitest";

import type { EpisodeState, Step } from "@/generated/vocabulary";
import { renderWorkspace } from "@/features/annotate/testing/harness";
import { makeProposal, OBSERVATION } from "@/features/annotate/testing/fixtures";

const stepOwing = (index: number): Step => ({
  index,
  command_id: `command-${index}`,
  actor: "human",
  decision: "override",
  proposal_id: null,
  acted_by: null,
  acceptable_ids: [],
  wrong_ids: [],
  thought: "",
  thought_timing: "owed",
  continued_characters: 0,
  action: { kind: "click", x: index, y: 2 },
  before: OBSERVATION,
  after: OBSERVATION,
  error: null,
  policy: null,
  started_at: "2026-01-02T03:04:05Z",
  ended_at: "2026-01-02T03:04:06Z",
  decide_ms: null,
  batch: null,
  not_done: [],
  provider_calls: [],
  undone: false,
  review: null,
});

const ENDS = makeProposal(1, { kind: "finish", answer: "" });
const owing = (changed: Partial<EpisodeState> = {}) =>
  renderWorkspace({ thought_later: true, steps: [stepOwing(0), stepOwing(1)], proposals: [ENDS], ...changed });
const types = (sent: readonly { type: string }[]) => sent.map(({ type }) => type);

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

describe("thoughts that are written later", () => {
  it("does an override without its thought, and says that it can follow", async () => {
    const { user, commands } = renderWorkspace({ thought_later: true, proposals: [] });
    expect(screen.getByText("can be written later")).toBeDefined();
    await user.keyboard("k");
    await user.keyboard("{Control>}a{/Control}");
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "press_keys", keys: ["ctrl", "a"] }, thought: "" }]);
  });

  it.each(["{Enter}", "1"])("lists them before %s ends the task, and sends them before it", async (key) => {
    const { user, commands } = owing();
    await user.keyboard(key);
    expect(commands()).toEqual([]);
    fireEvent.change(await screen.findByLabelText(/^Step 1 ·/), { target: { value: "I open it." } });
    fireEvent.change(screen.getByLabelText(/^Step 2 ·/), { target: { value: "I close it." } });
    fireEvent.submit(screen.getByLabelText(/^Step 2 ·/));
    expect(commands()).toMatchObject([
      { type: "thought", index: 0, thought: "I open it." },
      { type: "thought", index: 1, thought: "I close it." },
      { type: "accept", proposal_id: "proposal-1" },
    ]);
  });

  it("asks how the task ended only after them, and lets it end without one", async () => {
    const { user, commands } = owing();
    await user.keyboard("f");
    fireEvent.change(await screen.findByLabelText(/^Step 1 ·/), { target: { value: "I open it." } });
    await user.click(screen.getByRole("button", { name: "Finish without 1 thought" }));
    fireEvent.submit(await screen.findByLabelText(/Answer/));
    expect(types(commands())).toEqual(["thought", "finish"]);
  });

  it("offers a supervisor their own, not the annotator's", async () => {
    const steps = [stepOwing(0), { ...stepOwing(1), acted_by: "annotator-2" }];
    const { user } = renderWorkspace({ thought_later: true, steps, proposals: [ENDS] }, "mine", "annotator-2");
    await user.click(screen.getByRole("button", { name: /1 thought to write/ }));
    expect(await screen.findByLabelText(/^Step 2 ·/)).toBeDefined();
    expect(screen.queryByLabelText(/^Step 1 ·/)).toBeNull();
  });

  it("writes them without ending anything, and forgets what was about to end it", async () => {
    const { user, commands } = owing();
    await user.keyboard("{Enter}");
    await screen.findByLabelText(/^Step 1 ·/);
    await user.keyboard("{Escape}");
    await user.click(screen.getByRole("button", { name: /2 thoughts to write/ }));
    fireEvent.change(await screen.findByLabelText(/^Step 2 ·/), { target: { value: "I close it." } });
    await user.click(screen.getByRole("button", { name: /Save/ }));
    expect(commands()).toMatchObject([{ type: "thought", index: 1 }]);
    expect(types(commands())).toEqual(["thought"]);
  });
});
