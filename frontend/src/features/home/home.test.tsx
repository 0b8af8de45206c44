/** Home: the page that each item links to, in both languages, and what it shows without items. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen } from "@testing-library/react";
import axe from "axe-core";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Home } from "@/generated/api";
import { sessionQuery } from "@/shared/account/account";
import { I18nProvider, i18nFor, type Language } from "@/shared/i18n/i18n";
import { makeRate } from "@/shared/testing/rates";
import { TopBarProvider } from "@/shared/ui/top-bar";

import type { Item } from "./api";
import { describeItem } from "./describe-item";
import HomePage from "./home-page";

vi.mock("./hour-plots", () => ({ default: () => null }));

const AT = "2026-01-01T12:00:00Z";
const SINCE = "2026-01-01T11:00:00Z";
const ITEMS: Item[] = [
  { kind: "help", subject: "Ada", since: SINCE, episode: "e1", instruction: "Rename the file", message: "Which one?" },
  { kind: "more_help", subject: "", since: null, count: 2 },
  { kind: "part", subject: "tars 1", since: SINCE, part: "model", problem: "no_model", detail: "tars; it has qwen", down: true },
  { kind: "part", subject: "", since: SINCE, part: "disk", problem: "disk_filling", detail: "", down: false },
  { kind: "health_unknown", subject: "", since: SINCE },
  { kind: "policy_overridden", subject: "tars 2", since: null, before: makeRate(2, 40), after: makeRate(20, 40) },
  { kind: "policy_degraded", subject: "tars", since: SINCE, detail: "Its points are thousandths." },
  { kind: "pool", subject: "Desktop", since: null, waiting: 3, done_last_day: 40 },
  { kind: "gate", subject: "tars 3", since: SINCE, pool: "Desktop", passed: true },
  { kind: "cycle", subject: "daily", since: SINCE, cycle: "c1", number: 4 },
  { kind: "job", subject: "ravi", since: SINCE, job: "export", detail: "The disk is full." },
  { kind: "evaluation", subject: "", since: SINCE, run: "drills-m-r2", detail: "bridge_unavailable: it is gone" },
  { kind: "reviews", subject: "", since: SINCE, count: 12, capped: false },
];

function open(items: Item[], language: Language = "en") {
  const home: Home = { at: AT, items, hours: [] };
  vi.stubGlobal("fetch", () => Promise.resolve(Response.json(home)));
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(sessionQuery.queryKey, { csrf: "", user: { id: 1, username: "root", name: "Root", roles: ["admin"] } } as never);
  return render(
    <QueryClientProvider client={client}>
      <MantineProvider env="test">
        <I18nProvider language={language}>
          <MemoryRouter>
            <TopBarProvider>
              <HomePage />
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
}

afterEach(() => vi.unstubAllGlobals());

describe("home", () => {
  it("links each item to the page that solves it", async () => {
    const { container } = open(ITEMS);
    await screen.findByText("Ada asks for help");
    const links = [...container.querySelectorAll("ul a")].map((link) => [link.textContent, link.getAttribute("href")]);
    expect(links).toEqual([
      ["Ada asks for help", "/desk/e1"],
      ["2 more sessions ask for help", "/wall"],
      ["Model server tars 1 does not work", "/policies"],
      ["No health check for several minutes", "/health"],
      ["A probe found a problem with tars", "/policies"],
      ["Cycle 4 of daily failed", "/flywheel/c1"],
      ["Disk needs a look", "/retention"],
      ["tars 2 is overridden more than before", "/policies"],
      ["Desktop has 3 waiting tasks left", "/pools"],
      ["An export that ravi asked for failed", "/exports"],
      ["The evaluation drills-m-r2 failed", "/evaluations/run:drills-m-r2"],
      ["tars 3 passed the gate of Desktop and can be promoted", "/policies"],
      ["12 episodes wait for your review", "/review"],
    ]);
    expect(screen.getByText("Which one?")).toBeDefined();
    expect(screen.getByText("From 5% to 50% of 40 decisions in the last 6 hours")).toBeDefined();
    expect((await axe.run(container, { rules: { region: { enabled: false } } })).violations).toEqual([]);
  });

  it("says when there is nothing to do", async () => {
    open([]);
    expect((await screen.findByText("Nothing needs you")).getAttribute("role")).toBe("status");
  });

  it("speaks Chinese", async () => {
    open(ITEMS, "zh");
    expect(await screen.findByText("Ada 请求帮助")).toBeDefined();
    expect(screen.getByText("Desktop 只剩 3 个待领取的任务")).toBeDefined();
  });

  it("links researchers to pages that they may open", () => {
    const targets = ITEMS.filter(({ kind }) => kind === "part").map((item) => describeItem(item, i18nFor("en"), false).to);
    expect(targets).toEqual(["/policies", "/health"]);
  });
});
