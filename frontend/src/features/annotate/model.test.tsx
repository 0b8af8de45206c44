/** A person looks at what the model saw, and puts its notes right, over a session with a fake wire. */
import { fireEvent, screen, waitFor, within } from "@testing-library/react";
import axe from "axe-core";
import { beforeEach, describe, expect, it, vi } from "vitest";

import type { EpisodeState, Memory, Prompt } from "@/generated/vocabulary";

import { renderWorkspace } from "@/features/annotate/testing/harness";
import { OBSERVATION, POLICY, makeProposal } from "@/features/annotate/testing/fixtures";

const PROMPT: Prompt = {
  format: "pilothouse-prompt-1",
  policy: POLICY,
  model: "ui-tars",
  image_limits: { min_pixels: 78_400, max_pixels: 12_845_056 },
  functions: [],
  messages: [
    { role: "user", content: [{ type: "text", text: "You are a GUI agent.\n  Rename it." }] },
    { role: "assistant", content: [{ type: "text", text: "Thought: long ago" }] },
    { role: "user", content: [{ type: "image", image: { sha256: "a".repeat(64), media_type: "image/png", size: 8 } }] },
  ],
};
const PROMPT_REF = { sha256: "b".repeat(64), media_type: "application/json", size: 9 };
const NOTE: Memory = {
  through: 5,
  text: "I opened the folder.",
  policy: POLICY,
  revised: false,
  original: null,
  written_at: OBSERVATION.captured_at,
};

const open = (changed: Partial<EpisodeState> = {}) =>
  renderWorkspace({ proposals: [makeProposal(1, { kind: "wait", seconds: 5 }, { prompt: PROMPT_REF, tokens_read: 3 })], ...changed });

/** What axe finds in the open dialog; colours are seen in a real browser only. */
async function flaws() {
  const { violations } = await axe.run(await screen.findByRole("dialog"), { rules: { "color-contrast": { enabled: false } } });
  return violations.map(({ id }) => id);
}

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
  vi.stubGlobal("fetch", (url: string) => Promise.resolve(url.endsWith(PROMPT_REF.sha256) ? Response.json(PROMPT) : Response.json({ code: "gone", message: "It is gone." }, { status: 404 })));
});

describe("what the model saw", () => {
  it("is shown word for word, older turns as a line until they are opened", async () => {
    const { user } = open();
    await user.keyboard("{Shift>}P{/Shift}");
    const dialog = within(await screen.findByRole("dialog"));
    expect((await dialog.findByText(/You are a GUI agent/)).textContent).toBe("You are a GUI agent.\n  Rename it.");
    expect(dialog.getByRole("img", { name: "Picture in turn 3" }).getAttribute("src")).toBe(`/api/episodes/episode-1/blobs/${"a".repeat(64)}`);
    const older = dialog.getByRole("button", { name: /Thought: long ago/ });
    expect(older.getAttribute("aria-expanded")).toBe("false");
    await user.click(older);
    expect(dialog.getByText("Thought: long ago").tagName).toBe("PRE");
    expect(dialog.getByText("Tokens read").nextSibling?.textContent).toBe("3");
    expect(await flaws()).toEqual([]);
  });

  it("says so where no model was asked", async () => {
    const { user } = open({ proposals: [makeProposal(1, { kind: "wait", seconds: 5 })] });
    await user.click(screen.getByRole("button", { name: "What the model saw" }));
    expect(await screen.findByText("No model was asked here")).toBeDefined();
  });

  it("says why it cannot be shown, and tries again", async () => {
    const { user } = open({ proposals: [makeProposal(1, { kind: "wait", seconds: 5 }, { prompt: { ...PROMPT_REF, sha256: "c".repeat(64) } })] });
    await user.keyboard("{Shift>}P{/Shift}");
    const dialog = within(await screen.findByRole("dialog"));
    expect(await dialog.findByText("It is gone.")).toBeDefined();
    expect(dialog.getByRole("button", { name: "Try again" })).toBeDefined();
  });
});

describe("the model's notes", () => {
  it("are put right in place, and go back to the policy's words", async () => {
    const { user, commands, say } = open({ memories: [NOTE], noting: "idle" });
    await user.keyboard("{Shift>}N{/Shift}");
    const field = await screen.findByLabelText("Steps 1 to 6");
    fireEvent.change(field, { target: { value: "I opened the folder. It was empty." } });
    await user.click(screen.getByRole("button", { name: "Save" }));
    expect(commands()).toMatchObject([{ type: "remember", through: 5, text: "I opened the folder. It was empty." }]);
    const memories = [{ ...NOTE, text: "I opened the folder. It was empty.", revised: true, original: NOTE.text }];
    say({ ...CHANGED, version: 5, memories });
    await user.click(await screen.findByRole("button", { name: "Back to the policy's words" }));
    expect(commands()[1]).toMatchObject({ type: "remember", through: 5, text: NOTE.text });
    expect(await flaws()).toEqual([]);
  });

  it("say when one is being written, and why one failed", async () => {
    const { user, say } = open({ noting: "writing" });
    await user.click(screen.getByRole("button", { name: "The model's notes" }));
    expect(await screen.findByText("A note is being written")).toBeDefined();
    say({ type: "memories.noting", noting: "failed", policy: null, message: "no token within 30 s" });
    await waitFor(() => expect(screen.getByText("no token within 30 s")).toBeDefined());
  });

  it("have no button where the policy writes none", () => {
    open();
    expect(screen.queryByRole("button", { name: "The model's notes" })).toBeNull();
  });
});

const CHANGED = {
  type: "episode.changed",
  status: null,
  branch_of: null,
  observation: null,
  capabilities: null,
  tools: null,
  can_undo: null,
  undo_blocked: null,
  memories: null,
  autopilot: null,
  takeover: null,
  help_requested: null,
  secret_requests: null,
  secrets_confirmed: null,
  outcome: null,
  answer: null,
  verdict: null,
  lease_expires_at: null,
  error: null,
  finished_at: null,
} as const;
