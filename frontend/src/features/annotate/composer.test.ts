/** Accept, edit or override: which one it is follows from what was composed. */
import { describe, expect, it } from "vitest";

import type { Action } from "@/generated/vocabulary";
import { EMPTY_DRAFT, type Draft } from "@/session/drafts";

import { compose, draftFromProposal, isMeant, limitsOf, withAction } from "./composer";
import { makeEpisodeState, OBSERVATION, makeProposal } from "@/features/annotate/testing/fixtures";
import { draftFromRejected } from "./use-draft";

const NEAR = makeProposal(2, { kind: "click", x: 110, y: 100 }, { thought: "Near" });
const FAR = makeProposal(1, { kind: "click", x: 900, y: 600 }, { thought: "Far" });
const KEYS = makeProposal(3, { kind: "press_keys", keys: ["ctrl", "s"] }, { thought: "Keys" });
const episode = makeEpisodeState({ proposals: [FAR, NEAR, KEYS] });
const draft = (changed: Partial<Draft>): Draft => ({ ...EMPTY_DRAFT, ...changed });

describe("compose", () => {
  it("is an override with its own action, and names the candidate it started from", () => {
    const made = compose(draft({ command: "click(100, 100)", thought: " Because ", proposalId: NEAR.id }), episode);
    expect(made).toMatchObject({
      ok: true,
      body: { type: "act", action: { kind: "click", x: 100, y: 100 }, thought: "Because", proposal_id: NEAR.id },
    });
  });

  it("is an edit when only the thought differs", () => {
    const made = compose({ ...draftFromProposal(NEAR), thought: "Better" }, episode);
    expect(made).toMatchObject({ ok: true, body: { type: "accept", proposal_id: NEAR.id, thought: "Better", base_version: 0 } });
  });

  it("is an accept when nothing differs", () => {
    expect(compose(draftFromProposal(KEYS), episode)).toMatchObject({ ok: true, body: { type: "accept", thought: null } });
  });

  it("names no candidate that is gone", () => {
    const made = compose(draft({ command: "click(1, 1)", thought: "x", proposalId: "gone" }), episode);
    expect(made).toMatchObject({ ok: true, body: { type: "act", proposal_id: null } });
  });

  it("asks for the thought where the pool does", () => {
    const without = draft({ command: "click(1, 1)" });
    expect(compose(without, episode)).toMatchObject({ ok: false, reason: "thought" });
    expect(compose(without, { ...episode, thought_required: false }).ok).toBe(true);
  });

  it("says why a text is no action", () => {
    expect(compose(draft({ command: "click(1280, 1)", thought: "x" }), episode)).toMatchObject({
      ok: false,
      reason: "parse",
      failure: { code: "off_screen" },
    });
    expect(compose(EMPTY_DRAFT, episode)).toEqual({ ok: false, reason: "empty" });
  });

  it("knows no bounds where the machine has no picture", () => {
    const tool = makeEpisodeState({ observation: { ...OBSERVATION, screenshot: null, width: 0, height: 0 } });
    expect(limitsOf(tool).width).toBe(Infinity);
  });
});

describe("the thought that comes along", () => {
  it("is that of a candidate for the same act on the same target", () => {
    expect(withAction(EMPTY_DRAFT, { kind: "click", x: 100, y: 100 }, episode.proposals)).toEqual({
      command: "click(100, 100)",
      thought: "Near",
      proposalId: NEAR.id,
      original: "Near",
      taken: [],
    });
  });

  it("follows when the action moves, until a person wrote it", () => {
    const first = withAction(EMPTY_DRAFT, { kind: "click", x: 100, y: 100 }, episode.proposals);
    const moved = withAction(first, { kind: "click", x: 890, y: 590 }, episode.proposals);
    expect(moved.thought).toBe("Far");
    const written = withAction({ ...first, thought: "Mine" }, { kind: "click", x: 880, y: 590 }, episode.proposals);
    expect(written).toMatchObject({ thought: "Mine", proposalId: NEAR.id, command: "click(880, 590)" });
  });

  it.each<[string, Action]>([
    ["a target farther away", { kind: "click", x: 500, y: 300 }],
    ["another hotkey", { kind: "press_keys", keys: ["ctrl", "a"] }],
    ["another kind of click", { kind: "double_click", x: 110, y: 100 }],
    ["the same click with a key held", { kind: "mouse_click", point: { x: 110, y: 100 }, button: "left", clicks: 1, keys: ["ctrl"] }],
  ])("is none for %s", (_, action) => {
    expect(withAction(EMPTY_DRAFT, action, episode.proposals)).toMatchObject({ thought: "", proposalId: null });
  });

  it("counts for no other action, however the draft came to it", () => {
    const edited = { ...draftFromProposal(KEYS), command: 'press_keys("ctrl+a")' };
    expect(compose(edited, episode)).toMatchObject({ ok: false, reason: "thought", foreign: true });
    expect(compose({ ...edited, thought: "I select all." }, episode)).toMatchObject({ ok: true, body: { thought: "I select all." } });
    expect(compose(edited, { ...episode, thought_required: false })).toMatchObject({ ok: true, body: { thought: "" } });
  });

  it("is looked at again unless it was written for the action", () => {
    const written = { ...EMPTY_DRAFT, thought: "Mine" };
    const after = (before: Draft, action: Action) => isMeant(before, compose(withAction(before, action, episode.proposals), episode));
    expect(after(written, { kind: "press_keys", keys: ["ctrl", "a"] })).toBe(true);
    expect(after({ ...written, command: "click(1, 1)" }, { kind: "press_keys", keys: ["ctrl", "a"] })).toBe(false);
    expect(after(EMPTY_DRAFT, { kind: "press_keys", keys: ["ctrl", "a"] })).toBe(false);
    expect(after(EMPTY_DRAFT, { kind: "press_keys", keys: ["ctrl", "s"] })).toBe(true);
  });

  it("is none where no candidate does the like", () => {
    expect(withAction(EMPTY_DRAFT, { kind: "right_click", x: 1, y: 1 }, episode.proposals)).toMatchObject({
      thought: "",
      proposalId: null,
    });
  });
});

describe("a refused command", () => {
  it("comes back as the draft it was", () => {
    const command = { type: "act", command_id: "command-1", action: { kind: "click", x: 1, y: 2 }, thought: "Mine", continued_characters: 3, proposal_id: NEAR.id } as const;
    expect(draftFromRejected({ command }, episode.proposals)).toEqual({
      command: "click(1, 2)",
      thought: "Mine",
      proposalId: NEAR.id,
      original: "Near",
      taken: [[0, 3]],
    });
  });
});
