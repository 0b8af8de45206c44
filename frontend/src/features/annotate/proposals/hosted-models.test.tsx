import { screen } from "@testing-library/react";
import { describe, expect, it } from "vitest";

import { makeProposal } from "@/features/annotate/testing/fixtures";
import { renderWorkspace } from "@/features/annotate/testing/harness";

describe("the cost of a request", () => {
  it("stands beside the policy, where it is known", () => {
    renderWorkspace({ proposals: [makeProposal(1, { kind: "click", x: 1, y: 2 }, { cost_usd: 0.0421 })] });
    expect(screen.getByTitle("What asking for these candidates cost").textContent).toMatch(/0\.042$/);
  });
});

describe("safety checks", () => {
  it("shows what a provider wants checked, and acknowledges it by its button alone", async () => {
    const checks = [{ id: "c1", code: "malicious_instructions", message: "The page asks for something else." }];
    const offered = makeProposal(1, { kind: "click", x: 1, y: 2 }, { safety_checks: checks });
    const { user, commands } = renderWorkspace({ proposals: [offered] });
    expect(screen.getByText("The page asks for something else.")).toBeDefined();
    await user.click(screen.getByRole("button", { name: "I have checked: do it" }));
    expect(commands()).toMatchObject([{ type: "accept", proposal_id: offered.id, acknowledged: ["c1"] }]);
  });
});
