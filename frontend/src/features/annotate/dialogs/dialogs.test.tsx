/** Each dialog of the desk by keys alone, and for assistive technology. */
import { fireEvent, screen, waitFor } from "@testing-library/react";
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
