/** A search counts what it found; it divides that when somebody narrows. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";

import type { Facets } from "@/generated/api";
import { I18nProvider } from "@/shared/i18n/i18n";

import { SearchSections } from "./search-sections";

const FACETS: Facets = {
  total: 7,
  pools: [],
  decisions: [],
  policies: [{ value: "m r1", count: 7 }],
  applications: [],
  actions: [],
  outcomes: [],
  reviews: [],
};

afterEach(() => vi.unstubAllGlobals());

it("counts what was found at once, and divides it when a filter is opened", async () => {
  const requests: string[] = [];
  vi.stubGlobal("fetch", (path: string) => {
    requests.push(path);
    if (path.includes("/facets")) return Promise.resolve(Response.json(FACETS));
    return Promise.resolve(Response.json(path.startsWith("/api/trajectories") ? { items: [], total: 7, next: null } : []));
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <MantineProvider env="test">
        <I18nProvider language="en">
          <MemoryRouter>
            <SearchSections search={new URLSearchParams({ policy: "m r1" })} onSearch={vi.fn()} aside={(total) => <output>{total}</output>} />
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  expect(await screen.findByText("7 trajectories")).toBeTruthy();
  expect(screen.getByRole("status").textContent).toBe("7");
  const policies = screen.getByRole("combobox", { name: "Policy" });
  expect(policies).toHaveProperty("value", "m r1");
  expect(requests.some((path) => path.includes("/facets"))).toBe(false);
  await userEvent.setup().click(policies);
  await waitFor(() => expect(requests.filter((path) => path.includes("/facets"))).toHaveLength(1));
  expect(await screen.findByRole("option", { name: "m r1 (7)" })).toBeTruthy();
});
