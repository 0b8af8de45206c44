/** Dialogs of the desk by keys alone, and one that no test opens in a browser for assistive technology. */
import { cleanup, fireEvent, screen, waitFor, within } from "@testing-library/react";
import { beforeEach, expect, it } from "vitest";

import { makeProposal } from "@/features/annotate/testing/fixtures";
import { renderWorkspace } from "@/features/annotate/testing/harness";
import { violationsIn } from "@/shared/testing/accessibility";

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

it("asks whether a secret may be used without accessibility violations", async () => {
  const proposal = makeProposal(1, { kind: "type_text", text: "secret:PASSWORD" });
  const uses = [{ name: "PASSWORD", host: "shop.example", application: "" }];
  const request = { proposal_id: proposal.id, uses, kind: "type_text", thought: "I sign in.", autopilot: false, actions: null, continued_characters: 0 };
  renderWorkspace({ observation: null, proposals: [proposal], secret_requests: [request] });
  expect(await violationsIn(await screen.findByRole("dialog", { name: "Use of a secret" }))).toEqual([]);
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

it("keeps what was written in a closed dialog, but asks again how the task ended", async () => {
  const { user, commands } = renderWorkspace({ observation: null });
  await user.keyboard("f");
  await user.click(await screen.findByRole("radio", { name: "Failure" }));
  fireEvent.change(screen.getByRole("textbox", { name: "Note" }), { target: { value: "Kept" } });
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await user.keyboard("f");
  fireEvent.keyDown(await screen.findByRole("textbox", { name: "Note" }), { key: "Enter", ctrlKey: true });
  expect(commands()).toMatchObject([{ type: "finish", outcome: "success", reason: "Kept" }]);
});

it("does not send why a task is infeasible with a success", async () => {
  const { user, commands } = renderWorkspace({ observation: null });
  await user.keyboard("x");
  fireEvent.change(within(await screen.findByRole("dialog")).getByRole("textbox"), { target: { value: "No such page" } });
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await user.keyboard("f");
  fireEvent.keyDown(await screen.findByRole("radio", { name: "Success" }), { key: "Enter", ctrlKey: true });
  expect(commands()).toMatchObject([{ type: "finish", outcome: "success", reason: "" }]);
});

it("leaves in the usual way after another one was looked at", async () => {
  const { user, commands } = renderWorkspace({ observation: null });
  await user.keyboard("l");
  await user.click(await screen.findByRole("radio", { name: /^Report/ }));
  await user.keyboard("{Escape}");
  await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  await user.keyboard("l");
  fireEvent.keyDown(within(await screen.findByRole("dialog")).getByRole("textbox"), { key: "Enter", ctrlKey: true });
  expect(commands()).toMatchObject([{ type: "leave", how: "skip" }]);
});
