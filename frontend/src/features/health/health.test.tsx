/** The health page: states in words, what was counted, what to do, in both languages. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Check, HealthPage as Health } from "@/generated/api";
import { I18nProvider, i18nFor, type Language } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";

import { describeFigures } from "./figures";
import HealthPage from "./health-page";

const AT = "2026-01-01T12:00:00Z";
const NOW = Date.parse(AT);
const SOON = { timeout: 30_000 };
const check = (given: Partial<Check>): Check => ({
  name: "web",
  kind: "web",
  subject: "",
  state: "ok",
  problem: null,
  detail: "",
  figures: {},
  seconds: 0.01,
  since: "2026-01-01T11:00:00Z",
  ...given,
});

function open(checks: Check[], language: Language = "en") {
  const health: Health = { at: AT, checks };
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(health)));
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <MantineProvider>
        <I18nProvider language={language}>
          <MemoryRouter>
            <TopBarProvider>
              <HealthPage />
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
}

afterEach(() => vi.unstubAllGlobals());

describe("health page", () => {
  it("says that everything works", async () => {
    open([check({})]);
    await screen.findByText("Everything works", undefined, SOON);
    screen.getByRole("heading", { name: "Processes" });
    expect(screen.queryByRole("heading", { name: "Model servers" })).toBeNull();
  });

  it("says what is down, since when, and what to do", async () => {
    open([
      check({ name: "model tars 1", kind: "model", subject: "tars 1", state: "down", problem: "unreachable", detail: "ConnectError" }),
      check({ name: "backup", kind: "backup", state: "warn", problem: "no_backup" }),
    ]);
    await screen.findByText("1 part does not work, 1 needs a look", undefined, SOON);
    const down = screen.getByText("tars 1").closest("li");
    expect(down?.textContent).toContain("Does not work");
    expect(down?.textContent).toContain("It does not answer. The workspace gets no proposals from it; overriding works.");
    expect(down?.textContent).toContain("changed 1 hr. ago");
    expect(screen.getByText("Last backup").closest("li")?.textContent).toContain("Run ./pilothouse backup FOLDER");
  });

  it("speaks Chinese", async () => {
    open([check({ name: "disk", kind: "disk", state: "down", problem: "disk_full" })], "zh");
    await screen.findByText("1 个部分无法工作", undefined, SOON);
    expect(screen.getByText("磁盘").closest("li")?.textContent).toContain("几乎没有空间了");
  });
});

describe("figures", () => {
  const figuresOf = (given: Partial<Check>) => describeFigures(check(given), i18nFor("en"), NOW);

  it("tell of a disk how long it lasts", () => {
    const figures = { free: 2 * 1024 ** 3, total: 10 * 1024 ** 3, growth: 1024 ** 3, days: 2 };
    expect(figuresOf({ kind: "disk", figures })).toBe("2 GiB free of 10 GiB · 1 GiB more a day · full in 2 days");
  });

  it("tell of a queue how long the oldest waits", () => {
    expect(figuresOf({ kind: "queue", figures: { jobs: 2, oldest: 400 } })).toBe("2 jobs wait · the oldest for 7 min");
  });

  it("tell of who trains how many turns wait", () => {
    expect(figuresOf({ kind: "trainer", figures: { jobs: 1 } })).toBe("1 job waits");
  });

  it("tell of a host how old its browser is", () => {
    const figures = { machines: 1, capacity: 4, age: 0, browser_age: 6 * 86_400 };
    expect(figuresOf({ kind: "host", figures })).toContain("Chromium built 6 days ago");
  });

  it("tell nothing where nothing was counted", () => {
    expect(figuresOf({ kind: "bridge" })).toBe("");
  });
});
