/** Applications say what is missing and how it counts, and are chosen with one click; researchers only look. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";

import type { ApplicationOut, ApplicationsPage } from "@/generated/api";
import { sessionQuery } from "@/shared/account/account";
import { I18nProvider } from "@/shared/i18n/i18n";

import { ApplicationsView } from "./applications-view";

const MAIL: ApplicationOut = {
  id: 4,
  name: "Mail",
  state: "candidate",
  rank: 1,
  score: 0.75,
  low: 0.5,
  high: 1,
  parts: [
    { indicator: "coverage", state: "counted", value: 60, share: 1, weight: 0.5 },
    { indicator: "engagement", state: "missing", value: null, share: null, weight: 0 },
    { indicator: "penetration", state: "other_unit", value: null, share: 0.5, weight: 0.5 },
  ],
  readings: [
    { id: 9, indicator: "coverage", value: 60, unit: "% of industries", source: "javascript:alert(1)", dated: "2026-01-31", recorded_by: "alma", counted: true },
  ],
  decision: null,
  node: null,
};
const PAGE: ApplicationsPage = { items: [MAIL], scoring: { version: 0, rule: {}, changed_by: "", changed_at: null } };

afterEach(() => void vi.unstubAllGlobals());

function show(role: string): string[] {
  const sent: string[] = [];
  vi.stubGlobal(
    "fetch",
    vi.fn((path: string, { method = "GET", body = "" }: RequestInit) => {
      if (method !== "GET") sent.push(`${method} ${path} ${typeof body === "string" ? body : ""}`);
      return Promise.resolve(Response.json(method === "GET" ? PAGE : { node: 1 }));
    }),
  );
  const client = new QueryClient();
  client.setQueryData(sessionQuery.queryKey, { csrf: "", user: { id: 1, username: "root", name: "Root", roles: [role] } } as never);
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={client}>
        <I18nProvider language="en">
          <MemoryRouter>
            <ApplicationsView />
          </MemoryRouter>
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return sent;
}

it("tells what is missing, and chooses", async () => {
  const sent = show("admin");
  const user = userEvent.setup();
  const table = await screen.findByRole("table", { name: "Applications" });
  expect(within(table).getByText("missing")).toBeTruthy();
  expect(within(table).getByText("other unit")).toBeTruthy();
  expect(within(table).getByText("0.50 to 1.00")).toBeTruthy();
  await user.click(screen.getByRole("button", { name: "Details of Mail" }));
  expect(screen.getByText(/in another unit; counts as the median 0.500, 50% of the score/)).toBeTruthy();
  expect(screen.queryByRole("link", { name: /alert/ })).toBeNull();
  await user.click(screen.getByRole("button", { name: "Choose Mail" }));
  await waitFor(() => expect(sent).toEqual(['POST /api/design/applications/4/decision {"state":"chosen","reason":""}']));
});

it("lets researchers look", async () => {
  show("researcher");
  await screen.findByRole("table", { name: "Applications" });
  expect(screen.queryByRole("button", { name: "Choose Mail" })).toBeNull();
  expect(screen.queryByRole("textbox", { name: "New application" })).toBeNull();
});
