/** The workspace says which server and model answer. */
import { screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { renderWorkspace } from "@/features/annotate/testing/harness";
import { POLICY } from "@/features/annotate/testing/fixtures";

afterEach(() => vi.unstubAllGlobals());

it("names model, weights and server of the policy that proposes", async () => {
  const answer = { server: "models.example:8000", model: "tars-7b", weight_version: "r12" };
  vi.stubGlobal("fetch", (url: string) =>
    url.endsWith("/proposer") ? Promise.resolve(new Response(JSON.stringify(answer))) : new Promise(() => undefined),
  );
  renderWorkspace({ policy: POLICY });
  expect(await screen.findByText("tars-7b (r12) at models.example:8000")).toBeDefined();
});

it("asks nothing where nobody proposes", () => {
  const request = vi.fn(() => new Promise(() => undefined));
  vi.stubGlobal("fetch", request);
  renderWorkspace({ policy: null });
  expect(request.mock.calls.map(String).filter((call) => call.includes("proposer"))).toEqual([]);
});
