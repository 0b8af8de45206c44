/** What was asked is shown with how its answer was drawn. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { afterEach, expect, it, vi } from "vitest";

import { POLICY, makeProposal } from "@/features/annotate/testing/fixtures";
import { I18nProvider } from "@/shared/i18n/i18n";
import { PromptView } from "@/shared/prompt/prompt-view";

const PROMPT_REF = { sha256: "b".repeat(64), media_type: "application/json", size: 9 };
const PROMPT = {
  format: "pilothouse-prompt-1",
  policy: POLICY,
  model: "tars-7b",
  image_limits: { min_pixels: 784, max_pixels: 50_176 },
  messages: [{ role: "user", content: [{ type: "text", text: "Open the report" }] }],
};

afterEach(() => vi.unstubAllGlobals());

it.each([
  [[{ version: "r11", tokens: 40 }, { version: "r12", tokens: 1 }], "r11 (40 tokens) → r12 (1 token)"],
  [[{ version: "r11", tokens: null }, { version: "r12", tokens: null }], "r11 → r12"],
  [[{ version: "r11", tokens: 40 }], "r11"],
])("says which weights drew how much of it", async (weight_versions, text) => {
  vi.stubGlobal("fetch", () => Promise.resolve(new Response(JSON.stringify(PROMPT))));
  render(
    <QueryClientProvider client={new QueryClient()}>
      <I18nProvider language="en">
        <MantineProvider>
          <PromptView episodeId="episode-1" proposals={[makeProposal(1, null, { prompt: PROMPT_REF, weight_versions })]} />
        </MantineProvider>
      </I18nProvider>
    </QueryClientProvider>,
  );
  expect(await screen.findByText(text)).toBeDefined();
});
