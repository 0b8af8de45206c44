/** Dialogs of the desk by keys alone, and one that no test opens in a browser for assistive technology. */
import { fireEvent, screen, waitFor } from "@testing-library/react";
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
