/** What a person typed survives a reload, and a broken storage breaks nothing else. */
import { beforeEach, describe, expect, it } from "vitest";

import { draftStore, EMPTY_DRAFT, type Draft } from "./drafts";
import type { Entry } from "./outbox";

const DRAFT: Draft = { command: "click(1, 2)", thought: "Because", proposalId: "p1", original: "Since" };
const ENTRY: Entry = { at: 5, command: { type: "resample", command_id: "command-1" } };

beforeEach(() => localStorage.clear());

describe("drafts", () => {
  it("come back in another page, for the same step of the same episode only", () => {
    draftStore(localStorage).saveDraft("e1", 3, DRAFT);
    const again = draftStore(localStorage);
    expect(again.loadDraft("e1", 3)).toEqual(DRAFT);
    expect(again.loadDraft("e1", 4)).toEqual(EMPTY_DRAFT);
    expect(again.loadDraft("e2", 3)).toEqual(EMPTY_DRAFT);
  });

  it("leave nothing behind when emptied", () => {
    const drafts = draftStore(localStorage);
    drafts.saveDraft("e1", 3, DRAFT);
    drafts.saveDraft("e1", 3, EMPTY_DRAFT);
    drafts.saveOutbox("e1", [ENTRY]);
    drafts.saveOutbox("e1", []);
    expect(localStorage).toHaveLength(0);
  });

  it("keep commands that were not answered", () => {
    draftStore(localStorage).saveOutbox("e1", [ENTRY]);
    expect(draftStore(localStorage).loadOutbox("e1")).toEqual([ENTRY]);
  });

  it.each(["{", "null", "[1, {}]", '"text"'])("read %s as nothing", (stored) => {
    localStorage.setItem("pilothouse.draft.e1", stored);
    localStorage.setItem("pilothouse.outbox.e1", stored);
    expect(draftStore(localStorage).loadDraft("e1", 0)).toEqual(EMPTY_DRAFT);
    expect(draftStore(localStorage).loadOutbox("e1")).toEqual([]);
  });

  it("go on without a storage that is full or forbidden", () => {
    const refuse = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    const drafts = draftStore({ length: 0, clear: refuse, key: refuse, getItem: refuse, setItem: refuse, removeItem: refuse });
    drafts.saveDraft("e1", 0, DRAFT);
    expect(drafts.loadDraft("e1", 0)).toEqual(EMPTY_DRAFT);
  });
});

describe("texts used lately", () => {
  it("are kept once each, newest first, and not for ever", () => {
    const drafts = draftStore(localStorage);
    for (const text of ["one", "two", "one", "   ", "x".repeat(5_000)]) drafts.rememberText(text);
    expect(drafts.recentTexts()).toEqual(["one", "two"]);
    for (let count = 0; count < 100; count += 1) drafts.rememberText(`text ${count}`);
    expect(drafts.recentTexts()).toHaveLength(20);
  });
});
