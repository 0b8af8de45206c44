// @vitest-environment happy-dom
/** Corrections being written: each step has its own, over other steps and reloads. */
import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";

import type { FixOut } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { browserDraftStore } from "@/session/drafts";

import { mayCorrect, useCorrections } from "./use-corrections";

const STEPS: Step[] = [0, 1].map((index) => ({ index, thought: `Thought ${index}`, action: { kind: "wait", seconds: 1 } }) as Step);
const open = (fixes: FixOut[] = []) => renderHook(() => useCorrections(browserDraftStore(1), "e1", STEPS, fixes)).result;

beforeEach(() => localStorage.clear());

it("keeps a correction while another step's is opened, and after a reload", () => {
  const editor = open();
  act(() => editor.current.open(0));
  act(() => editor.current.change(0, { thought: "Half written" }));
  act(() => editor.current.open(1));
  expect(editor.current.of(0)).toMatchObject({ thought: "Half written", changed: true });
  expect(editor.current.of(1)).toMatchObject({ thought: "Thought 1", changed: false });

  const again = open();
  expect(again.current.of(0)).toMatchObject({ thought: "Half written", changed: true });
  expect(again.current.of(1)).toBeNull();
});

it("forgets it when it is saved or closed", () => {
  const editor = open();
  act(() => editor.current.open(0));
  act(() => editor.current.change(0, { reason: "Wrong day" }));
  act(() => editor.current.close(0));
  expect(editor.current.of(0)).toBeNull();
  expect(open().current.of(0)).toBeNull();
});

it("keeps the revision it was written over, so that a newer one is not overwritten unseen", () => {
  const editor = open();
  act(() => editor.current.open(0));
  act(() => editor.current.change(0, { thought: "Mine" }));
  const newer = { index: 0, revision: 1, thought: "Theirs", action: { kind: "wait", seconds: 1 } } as FixOut;
  expect(open([newer]).current.of(0)).toMatchObject({ thought: "Mine", base: 0 });
});

it("is for the annotator of sent-back work, and for a reviewer when no other reviewer has the claim", () => {
  const claim = { reviewer: "Rosa", mine: false, until: "2026-01-02T03:04:05Z" };
  expect(mayCorrect({ may: "mend", claim })).toBe(true);
  expect(mayCorrect({ may: "review", claim: null })).toBe(true);
  expect(mayCorrect({ may: "review", claim: { ...claim, mine: true } })).toBe(true);
  expect(mayCorrect({ may: "review", claim })).toBe(false);
  expect(mayCorrect({ may: "look", claim: null })).toBe(false);
});
