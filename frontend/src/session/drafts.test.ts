// @vitest-environment happy-dom
/** What a person typed survives a reload, and a broken storage breaks nothing else. */
import { beforeEach, describe, expect, it, vi } from "vitest";

import { browserDraftStore, draftStore, EMPTY_DRAFT, type Draft } from "./drafts";
import type { Entry } from "./outbox";

const DRAFT: Draft = { command: "click(1, 2)", thought: "Because", proposalId: "p1", original: "Since", taken: [] };
/** The storage of one tab. */
function memory(): Storage {
  const stored = new Map<string, string>();
  return {
    get length() {
      return stored.size;
    },
    clear: () => stored.clear(),
    key: (index) => [...stored.keys()][index] ?? null,
    getItem: (key) => stored.get(key) ?? null,
    setItem: (key, value) => void stored.set(key, value),
    removeItem: (key) => void stored.delete(key),
  };
}

const ENTRY: Entry = { at: 5, command: { type: "resample", command_id: "command-1" } };

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

describe("drafts", () => {
  it("come back in another page, for the same person and episode only", () => {
    browserDraftStore(1).saveDraft("e1", 3, DRAFT);
    const again = browserDraftStore(1);
    expect(again.loadDraft("e1", 3)).toEqual(DRAFT);
    expect(again.loadDraft("e2", 3)).toEqual(EMPTY_DRAFT);
    expect(browserDraftStore(2).loadDraft("e1", 3)).toEqual(EMPTY_DRAFT);
  });

  it("keep a person's words when the screen has moved on, not the place nor the candidate", () => {
    const drafts = browserDraftStore(1);
    drafts.saveDraft("e1", 3, DRAFT);
    expect(drafts.loadDraft("e1", 4)).toEqual({ ...EMPTY_DRAFT, thought: "Because" });
    drafts.saveDraft("e1", 3, { ...DRAFT, command: 'type_text("a long letter")', thought: DRAFT.original });
    expect(drafts.loadDraft("e1", 4)).toEqual({ ...EMPTY_DRAFT, command: 'type_text("a long letter")' });
  });

  it("leave nothing behind when emptied", () => {
    const drafts = browserDraftStore(1);
    drafts.saveDraft("e1", 3, DRAFT);
    drafts.saveDraft("e1", 3, EMPTY_DRAFT);
    drafts.saveOutbox("e1", [ENTRY]);
    drafts.saveOutbox("e1", []);
    expect(localStorage).toHaveLength(0);
    expect(sessionStorage).toHaveLength(0);
  });

  it("keep commands that were not answered", () => {
    browserDraftStore(1).saveOutbox("e1", [ENTRY]);
    expect(browserDraftStore(1).loadOutbox("e1")).toEqual([ENTRY]);
  });

  it("keep the commands of two tabs apart, and share the texts", () => {
    const tabs = [memory(), memory()].map((tab) => draftStore({ lasting: localStorage, tab }, 1));
    tabs[0]?.saveOutbox("e1", [ENTRY]);
    tabs[1]?.saveOutbox("e1", []);
    tabs[0]?.rememberText("one");
    expect(tabs[0]?.loadOutbox("e1")).toEqual([ENTRY]);
    expect(tabs[1]?.recentTexts()).toEqual(["one"]);
  });

  it.each(["{", "null", "[1, {}]", '"text"'])("read %s as nothing", (stored) => {
    localStorage.setItem("pilothouse.1.draft.e1", stored);
    sessionStorage.setItem("pilothouse.1.outbox.e1", stored);
    expect(browserDraftStore(1).loadDraft("e1", 0)).toEqual(EMPTY_DRAFT);
    expect(browserDraftStore(1).loadOutbox("e1")).toEqual([]);
  });

  it("go on without a storage that is full or forbidden", () => {
    const refuse = () => {
      throw new DOMException("full", "QuotaExceededError");
    };
    const broken = { length: 0, clear: refuse, key: refuse, getItem: refuse, setItem: refuse, removeItem: refuse };
    const drafts = draftStore({ lasting: broken, tab: broken }, 1);
    drafts.saveDraft("e1", 0, DRAFT);
    expect(drafts.loadDraft("e1", 0)).toEqual(EMPTY_DRAFT);
  });
});

describe("texts of forms", () => {
  it("come back in another page, for the same person, episode and place only", () => {
    browserDraftStore(1).saveTexts("e1", "remark.1.3", { comment: "Too far" });
    const again = browserDraftStore(1);
    expect(again.loadTexts("e1", "remark.1.3")).toEqual({ comment: "Too far" });
    expect(again.loadTexts("e1", "remark.1.4")).toBeNull();
    expect(again.loadTexts("e2", "remark.1.3")).toBeNull();
    expect(browserDraftStore(2).loadTexts("e1", "remark.1.3")).toBeNull();
    again.saveTexts("e1", "remark.1.3", null);
    expect(localStorage).toHaveLength(0);
  });

  it("are bounded: the oldest go, and never those of others", () => {
    vi.useFakeTimers({ now: 0 });
    browserDraftStore(2).saveTexts("e0", "note", { text: "theirs" });
    browserDraftStore(1).saveDraft("e0", 0, DRAFT);
    for (let count = 0; count < 250; count += 1) {
      vi.setSystemTime(count + 1);
      browserDraftStore(1).saveTexts(`e${count}`, "finish", { reason: "Seen" });
    }
    vi.useRealTimers();
    expect(localStorage).toHaveLength(201);
    expect(browserDraftStore(1).loadDraft("e0", 0)).toEqual(EMPTY_DRAFT);
    expect(browserDraftStore(1).loadTexts("e249", "finish")).toEqual({ reason: "Seen" });
    expect(browserDraftStore(2).loadTexts("e0", "note")).toEqual({ text: "theirs" });
  });

  it("make room for themselves in a full storage", () => {
    const storage = memory();
    const setItem = storage.setItem.bind(storage);
    storage.setItem = (key, value) => {
      if (storage.getItem(key) === null && storage.length >= 150) throw new DOMException("full", "QuotaExceededError");
      setItem(key, value);
    };
    const drafts = draftStore({ lasting: storage, tab: memory() }, 1);
    for (let count = 0; count < 160; count += 1) drafts.saveTexts(`e${count}`, "help", { message: "Stuck" });
    expect(drafts.loadTexts("e159", "help")).toEqual({ message: "Stuck" });
  });

  it("make room by size, and leave nothing old where they do not fit", () => {
    const storage = memory();
    const setItem = storage.setItem.bind(storage);
    const sizeWith = (key: string, value: string) => {
      const keys = Array.from({ length: storage.length }, (_, index) => storage.key(index) ?? "").filter((known) => known !== key);
      return keys.reduce((size, known) => size + (storage.getItem(known)?.length ?? 0), value.length);
    };
    storage.setItem = (key, value) => {
      if (sizeWith(key, value) > 500_000) throw new DOMException("full", "QuotaExceededError");
      setItem(key, value);
    };
    const drafts = draftStore({ lasting: storage, tab: memory() }, 1);
    for (const id of ["e1", "e2", "e3"]) drafts.saveTexts(id, "cell", { code: "x".repeat(200_000) });
    expect(["e1", "e2", "e3"].map((id) => drafts.loadTexts(id, "cell")?.code?.length)).toEqual([undefined, 200_000, 200_000]);
    drafts.saveTexts("e3", "cell", { code: "x".repeat(300_000) });
    expect(drafts.loadTexts("e3", "cell")).toBeNull();
    setItem("theirs", "x".repeat(600_000));
    drafts.saveTexts("e2", "note", { text: "Seen" });
    drafts.saveTexts("e2", "cell", { code: "y" });
    expect(drafts.loadTexts("e2", "cell")).toBeNull();
  });

  it.each(["{", "null", '{"texts": {"comment": 1}}', '{"texts": []}x'])("read %s as nothing", (stored) => {
    localStorage.setItem("pilothouse.1.draft.e1.note", stored);
    expect(browserDraftStore(1).loadTexts("e1", "note")).toBeNull();
  });
});

describe("texts used lately", () => {
  it("are kept once each, newest first, and not for ever", () => {
    const drafts = browserDraftStore(1);
    for (const text of ["one", "two", "one", "   ", "x".repeat(5_000)]) drafts.rememberText(text);
    expect(drafts.recentTexts()).toEqual(["one", "two"]);
    for (let count = 0; count < 100; count += 1) drafts.rememberText(`text ${count}`);
    expect(drafts.recentTexts()).toHaveLength(20);
  });

  it("are one person's, until they sign out", () => {
    browserDraftStore(1).rememberText("secret");
    expect(browserDraftStore(2).recentTexts()).toEqual([]);
    browserDraftStore(2).rememberText("mine");
    for (const place of ["file./etc/a.b", "tool.query", "cell", "note"] as const) browserDraftStore(1).saveTexts("e1", place, { text: "secret" });
    browserDraftStore(1).forgetTexts();
    expect(Object.keys(localStorage).filter((key) => key.startsWith("pilothouse.1."))).toEqual(["pilothouse.1.draft.e1.note"]);
    expect(browserDraftStore(1).recentTexts()).toEqual([]);
    expect(browserDraftStore(2).recentTexts()).toEqual(["mine"]);
  });
});
