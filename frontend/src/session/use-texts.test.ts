// @vitest-environment happy-dom
/** What is written while a text is on its way is kept. */
import { act, renderHook } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";

import { browserDraftStore } from "./drafts";
import { useTexts } from "./use-texts";

const open = () => renderHook(() => useTexts(browserDraftStore(1), "e1", "note", { text: "" })).result;

beforeEach(() => localStorage.clear());

it("forgets a text that was sent, and keeps one that was written since", () => {
  const form = open();
  act(() => form.current.change({ text: "One" }));
  act(() => form.current.clearSent({ text: "One" }));
  expect(form.current.texts).toEqual({ text: "" });
  act(() => form.current.change({ text: "One" }));
  const { clearSent } = form.current;
  act(() => form.current.change({ text: "One and more" }));
  act(() => clearSent({ text: "One" }));
  expect(form.current.texts).toEqual({ text: "One and more" });
  expect(open().current.texts).toEqual({ text: "One and more" });
});
