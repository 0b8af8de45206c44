/** Each dialog of the desk by keys alone, and for assistive technology. */
import { cleanup, fireEvent, screen, waitFor } from "@testing-library/react";
import axe from "axe-core";
import { beforeEach, expect, it } from "vitest";

import { renderWorkspace } from "@/features/annotate/testing/harness";

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

/** jsdom draws nothing, so colours are looked at in a browser. */
const RULES = { rules: { "color-contrast": { enabled: false } } };

it.each([
  ["f", "Finish the task"],
  ["l", "Leave the task"],
  ["c", "Clipboard"],
])("%s opens a dialog without accessibility violations", async (key, name) => {
  const { user } = renderWorkspace({ capabilities: ["click", "set_clipboard", "get_clipboard"], observation: null });
  await user.keyboard(key);
  const { violations } = await axe.run(await screen.findByRole("dialog", { name }), RULES);
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
});

it("finishes by Ctrl+Enter from the outcome, where the cursor is", async () => {
  const { user, commands } = renderWorkspace({ observation: null });
  await user.keyboard("f");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("radio", { name: "Success" })));
  fireEvent.keyDown(screen.getByRole("radio", { name: "Success" }), { key: "Enter", ctrlKey: true });
  expect(commands()).toMatchObject([{ type: "finish", outcome: "success" }]);
});

it.each([
  { key: "f", dialog: "Finish the task", field: "Note", sent: { type: "finish", reason: "Kept" } },
  { key: "h", dialog: "Call for help", field: "What do you need", sent: { type: "help", message: "Kept" } },
  { key: "l", dialog: "Leave the task", field: "Reason", sent: { type: "leave", reason: "Kept" } },
])("what is written in $dialog is there after a reload, until it is sent", async ({ key, dialog, field, sent }) => {
  const first = renderWorkspace({ observation: null });
  await first.user.keyboard(key);
  const named = { name: new RegExp(field) };
  fireEvent.change(await screen.findByRole("textbox", named), { target: { value: "Kept" } });
  cleanup();

  const { user, commands } = renderWorkspace({ observation: null });
  await user.keyboard(key);
  expect(screen.getByRole("dialog", { name: dialog })).toBeTruthy();
  expect((await screen.findByRole<HTMLTextAreaElement>("textbox", named)).value).toBe("Kept");
  fireEvent.keyDown(screen.getByRole("textbox", named), { key: "Enter", ctrlKey: true });
  expect(commands()).toMatchObject([sent]);
  expect(Object.keys(localStorage).filter((key) => key.includes(".draft."))).toEqual([]);
});
