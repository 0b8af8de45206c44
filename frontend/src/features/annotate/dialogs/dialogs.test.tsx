/** Dialogs of the desk by keys alone, and one that no test opens in a browser for assistive technology. */
import { fireEvent, screen, waitFor } from "@testing-library/react";
import axe from "axe-core";
import { beforeEach, expect, it } from "vitest";

import { makeProposal } from "@/features/annotate/testing/fixtures";
import { renderWorkspace } from "@/features/annotate/testing/harness";

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

/** jsdom draws nothing, so colours are looked at in a browser. */
const RULES = { rules: { "color-contrast": { enabled: false } } };

it("asks whether a secret may be used without accessibility violations", async () => {
  const proposal = makeProposal(1, { kind: "type_text", text: "secret:PASSWORD" });
  const uses = [{ name: "PASSWORD", host: "shop.example", application: "" }];
  const request = { proposal_id: proposal.id, uses, kind: "type_text", thought: "I sign in.", autopilot: false, actions: null, continued_characters: 0 };
  renderWorkspace({ observation: null, proposals: [proposal], secret_requests: [request] });
  const { violations } = await axe.run(await screen.findByRole("dialog", { name: "Use of a secret" }), RULES);
  expect(violations.map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
});

it("finishes by Ctrl+Enter from the outcome, where the cursor is", async () => {
  const { user, commands } = renderWorkspace({ observation: null });
  await user.keyboard("f");
  await waitFor(() => expect(document.activeElement).toBe(screen.getByRole("radio", { name: "Success" })));
  fireEvent.keyDown(screen.getByRole("radio", { name: "Success" }), { key: "Enter", ctrlKey: true });
  expect(commands()).toMatchObject([{ type: "finish", outcome: "success" }]);
});
