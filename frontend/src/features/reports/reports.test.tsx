/** The reports page: figures and their absence, a row that narrows, a filter taken away, both languages. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, expect, it, vi } from "vitest";

import type { Figures, Report } from "@/generated/api";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";

import ReportsPage from "./reports-page";

const FIGURES: Figures = {
  episodes: 4,
  finished: 3,
  success: { successes: 2, attempts: 3, rate: 2 / 3, low: 0.2, high: 0.9 },
  hours: 2,
  returned: null,
  steps: 40,
  accepted: 25,
  edited: 5,
  overridden: 10,
  taken_over: 0,
  alone: 0,
  override: { successes: 10, attempts: 40, rate: 0.25, low: 0.14, high: 0.4 },
  decide_p50_ms: 2_500,
  decide_p95_ms: 9_000,
  step_p50_ms: 3_000,
  step_p95_ms: null,
};
const REPORT: Report = {
  total: FIGURES,
  rows: [{ key: "7", label: "Desktop basics", figures: FIGURES }],
  days: [{ key: "2026-02-28", label: "2026-02-28", figures: FIGURES }],
  latencies: [{ policy: "nano r1", count: 12, p50_ms: 300, p95_ms: 700, p99_ms: 900 }],
  machines: [],
  queues: [
    {
      pool_id: 7,
      pool: "Desktop basics",
      tasks_waiting: 3,
      tasks_held: 1,
      reviews_waiting: 2,
      oldest_task_at: null,
      oldest_review_at: null,
    },
  ],
  asked_at: "2026-03-01T10:00:00Z",
};

const requests: string[] = [];

function show(report: Report, language: Language = "en") {
  vi.stubGlobal("fetch", (input: string) => {
    requests.push(input);
    return Promise.resolve(Response.json(report));
  });
  render(
    <MantineProvider>
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <I18nProvider language={language}>
          <TopBarProvider>
            <MemoryRouter>
              <ReportsPage />
            </MemoryRouter>
          </TopBarProvider>
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
}

afterEach(() => {
  vi.unstubAllGlobals();
  requests.length = 0;
});

it("shows what the work adds up to, with what it rests on", async () => {
  show(REPORT);
  const row = (await screen.findByRole("button", { name: "Desktop basics" })).closest("tr");
  expect(row).not.toBeNull();
  expect(within(row as HTMLElement).getByText("25%")).toBeDefined();
  expect(within(row as HTMLElement).getByRole("img", { name: "Accepted 25, Thought edited 5, Overridden 10" })).toBeDefined();
  expect(screen.getByText("14%–40%, 10 of 40")).toBeDefined();
  expect(screen.getByText("No episode ended in these days")).toBeDefined();
});

it("narrows to a row that is chosen, by day, and takes the filter away again", async () => {
  const user = userEvent.setup();
  show(REPORT);
  await user.click(await screen.findByRole("button", { name: "Desktop basics" }));
  await screen.findByRole("heading", { name: "By day" });
  expect(requests.at(-1)).toContain("pool=7");
  await user.click(screen.getByRole("button", { name: "Pool 7: show all again" }));
  await screen.findByRole("heading", { name: "By day" });
  expect(requests.at(-1)).not.toContain("pool=7");
});

it("says that there was no work, and where to look instead", async () => {
  const nothing = { ...REPORT, rows: [], days: [], latencies: [], queues: [] };
  show(nothing, "zh");
  expect(await screen.findByText("该时段内没有工作")).toBeDefined();
  expect(screen.queryByRole("link", { name: "下载 CSV" })).toBeNull();
});
