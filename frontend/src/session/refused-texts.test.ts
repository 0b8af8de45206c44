// @vitest-environment happy-dom
/** A refused command gives its words back to the form they were written in. */
import { beforeEach, expect, it } from "vitest";

import { browserDraftStore } from "./drafts";
import { giveBackTexts } from "./refused-texts";

const drafts = browserDraftStore(1);
beforeEach(() => localStorage.clear());

it("gives a note of Finish and a request for help back", () => {
  giveBackTexts(drafts, "e1", 4, { type: "finish", command_id: "c1", outcome: "failure", answer: "", reason: "The page is gone" });
  giveBackTexts(drafts, "e1", 4, { type: "help", command_id: "c2", message: "Which folder?" });
  expect(drafts.loadTexts("e1", "finish")).toEqual({ answer: "", reason: "The page is gone" });
  expect(drafts.loadTexts("e1", "help")).toEqual({ message: "Which folder?" });
});

it("keeps apart why a task is infeasible, and the thoughts of two takeovers", () => {
  giveBackTexts(drafts, "e1", 4, { type: "finish", command_id: "c1", outcome: "infeasible", answer: "", reason: "No such page" });
  giveBackTexts(drafts, "e1", 4, { type: "takeover", command_id: "c2", on: false, thought: "By hand" });
  expect(drafts.loadTexts("e1", "infeasible")).toEqual({ reason: "No such page" });
  expect(drafts.loadTexts("e1", "finish")).toBeNull();
  expect(drafts.loadTexts("e1", "takeover.4")).toEqual({ thought: "By hand" });
  expect(drafts.loadTexts("e1", "takeover.5")).toBeNull();
});

it("keeps what was written since, and the thoughts of other steps", () => {
  drafts.saveTexts("e1", "thoughts", { 2: "New" });
  giveBackTexts(drafts, "e1", 4, { type: "thought", command_id: "c1", index: 2, thought: "Old" });
  giveBackTexts(drafts, "e1", 4, { type: "thought", command_id: "c2", index: 3, thought: "Third" });
  expect(drafts.loadTexts("e1", "thoughts")).toEqual({ 2: "New", 3: "Third" });
});
