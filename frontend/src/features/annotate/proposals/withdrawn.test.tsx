import { screen } from "@testing-library/react";
import { expect, it } from "vitest";

import { OBSERVATION, makeProposal } from "@/features/annotate/testing/fixtures";
import { renderWorkspace } from "@/features/annotate/testing/harness";

it("says that the screen changed, and does no candidate that was withdrawn", async () => {
  const { user, say, commands } = renderWorkspace({ version: 4, proposals: [makeProposal(1, { kind: "click", x: 1, y: 2 })] });
  say({ type: "proposals.withdrawn", version: 5, reason: "screen_changed", observation: OBSERVATION });
  expect(screen.getByText("Withdrawn: the screen changed")).toBeDefined();
  await user.keyboard("{Enter}1");
  expect(commands()).toEqual([]);
});
