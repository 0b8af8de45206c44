/** The retention page: a rule is switched on only after its count was seen; the audit log has bounds of its own. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { RetentionPage as Retention, RuleOut } from "@/generated/api";
import { I18nProvider } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";

import RetentionPage from "./retention-page";

const SOON = { timeout: 30_000 };
const RULE: RuleOut = {
  id: 4,
  what: "unaccepted",
  pool_id: null,
  pool: null,
  days: 90,
  active: false,
  preview: { at: "2026-01-01T10:00:00Z", items: 12, files: 340, bytes: 1_048_576, spared: 2 },
  ran_at: null,
  removed: 0,
  freed: 0,
  error: "",
  created_by: "alma",
};

function open(rules: RuleOut[]) {
  const page: Retention = { rules, pools: [{ id: 7, name: "Desktop basics" }] };
  const sent: string[] = [];
  vi.stubGlobal("fetch", (path: string, { method = "GET" }: RequestInit = {}) => {
    if (method !== "GET") sent.push(`${method} ${path}`);
    return Promise.resolve(Response.json(method === "GET" ? page : RULE));
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <MantineProvider>
        <I18nProvider language="en">
          <MemoryRouter>
            <TopBarProvider>
              <RetentionPage />
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { sent, user: userEvent.setup() };
}

afterEach(() => vi.unstubAllGlobals());

describe("retention page", () => {
  it("says that everything is kept where there is no rule", async () => {
    open([]);
    expect((await screen.findByText("Everything is kept", undefined, SOON)).tagName).toBe("P");
  });

  it("counts before it asks to switch a rule on", async () => {
    const { sent, user } = open([RULE]);
    expect((await screen.findByText(/12 episodes/, undefined, SOON)).textContent).toContain("12 episodes · 1 MiB");
    await user.click(screen.getByRole("button", { name: /^Switch on: Pictures of episodes nobody accepted/ }));
    const dialog = await screen.findByRole("dialog", { name: /Delete by rule/ }, SOON);
    await waitFor(() => expect(within(dialog).getByRole<HTMLButtonElement>("button", { name: "Switch on" }).disabled).toBe(false), SOON);
    expect(sent).toEqual(["POST /api/retention/rules/4/preview"]);
    await user.click(within(dialog).getByRole("button", { name: "Switch on" }));
    await waitFor(() => expect(sent.at(-1)).toBe("POST /api/retention/rules/4/active"), SOON);
  });
});
