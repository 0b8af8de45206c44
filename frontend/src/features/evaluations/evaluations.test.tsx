/** The evaluation pages: the list and the choice of two, a report with its curves, a comparison, and registering a run. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter, Route, Routes, useLocation } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { BenchmarkRunRow, EvaluationComparison, EvaluationOut, EvaluationRow, SuiteResult, TaskResult } from "@/generated/api";
import { sessionQuery } from "@/shared/account/account";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { violationsIn } from "@/shared/testing/accessibility";
import { makeRate } from "@/shared/testing/rates";
import { TopBarProvider } from "@/shared/ui/top-bar";

import EvaluationPage from "./evaluation-page";
import EvaluationsPage from "./evaluations-page";


const AT = "2026-01-01T10:00:00Z";
const RESULT: Omit<TaskResult, "suite" | "name" | "level"> = {
  successes: makeRate(3, 4),
  score: 0.75,
  score_low: 0.4,
  score_high: 1,
  points: null,
  human: null,
  normalised: null,
  normalised_attempts: 0,
  steps: 3,
  steps_of_successes: 2.5,
  think_characters: 10,
  reply_tokens: 8,
  pass_at: [
    { k: 1, tasks: 1, rate: 0.75 },
    { k: 4, tasks: 1, rate: 1 },
  ],
  scaling: [
    { steps: 1, successes: makeRate(1, 4), score: 0.25, cut_off: 0 },
    { steps: 4, successes: makeRate(3, 4), score: 0.75, cut_off: 1 },
  ],
};
const TASK: TaskResult = { ...RESULT, suite: "drills", name: "rows", level: 1 };
const SUITE: SuiteResult = { ...RESULT, suite: "drills", tasks: { count: 1, mean: 0.75, deviation: null }, runs: null };
const ROW: EvaluationRow = {
  id: "run:drills-m-r2",
  source: "run",
  name: "drills",
  policies: [{ name: "m", revision: "r2", dialect: "ui_tars_1_5", scripted: false, teacher: false }],
  created_at: AT,
  tasks: 1,
  attempts: 4,
  successes: makeRate(3, 4),
  pass_at: { k: 4, tasks: 1, rate: 1 },
  steps: 3,
  cost_usd: 0.2,
  run: "drills-m-r2",
};
const OLD: EvaluationRow = { ...ROW, id: "7", source: "report", policies: [{ name: "m", revision: "r1", dialect: "ui_tars_1_5", scripted: false, teacher: false }], run: null };
const OUT: EvaluationOut = {
  row: ROW,
  report: {
    format: "pilothouse-evaluation-1",
    created_at: AT,
    policies: ROW.policies,
    attempts: 4,
    judged: 0,
    judge: "",
    left_out: { unjudged: 1, broken: 0, assisted: 0 },
    infrastructure: 0,
    cost_usd: 0.2,
    human_tasks: 0,
    suites: [SUITE],
    categories: [],
    tasks: [TASK],
    comparison: null,
  },
  decisions: [],
  revision: null,
  cycle: null,
  judge_known: false,
  can_delete: false,
  registered: null,
};
const COMPARISON: EvaluationComparison = {
  before: OLD,
  after: ROW,
  before_size: { known: true, size: "" },
  after_size: { known: true, size: "320x240" },
  comparison: {
    policies: OLD.policies,
    overall: { pairs: 0, won: 0, lost: 0, chance: 1, finding: "chance" },
    tasks: [{ suite: "drills", name: "rows", level: 1, before: makeRate(0, 4), after: makeRate(3, 4), chance: 0.14, adjusted: 0.14, finding: "chance" }],
    only_before: ["drills/tabs"],
    only_after: [],
  },
  overall: { gained: 3, chance: 0.14, finding: "chance" },
};

const RUN: BenchmarkRunRow = {
  name: "drills-m-r2",
  benchmark: "drills",
  policy: "m",
  revision: "r2",
  attempts: 8,
  status: "running",
  progress: { total: 8, done: 3, successes: 2, infrastructure: 0, cost_usd: 0.5, running: [], started_at: AT, updated_at: AT, ended: false },
  harness: false,
  software: "0.1.0",
  created_at: AT,
  can_resume: false,
  can_restart: false,
  can_delete: false,
  error: "",
};

function Here() {
  const { pathname, search } = useLocation();
  return <output data-testid="here">{pathname + search}</output>;
}

function open(at: string, { out = OUT, language = "en", admin = true, unfinished = false }: { out?: EvaluationOut; language?: Language; admin?: boolean; unfinished?: boolean } = {}) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(sessionQuery.queryKey, { csrf: "", user: { id: 1, username: "one", name: "One", roles: [admin ? "admin" : "researcher"] } } as never);
  const sent: unknown[] = [];
  vi.stubGlobal("fetch", (path: string, { method = "GET", body }: RequestInit = {}) => {
    if (method !== "GET") {
      sent.push([method, path, typeof body === "string" ? JSON.parse(body) : null]);
      return Promise.resolve(Response.json({ code: "server_missing", message: "model missing", extra: {} }, { status: 422 }));
    }
    if (path.endsWith("/benchmarks/-/unfinished")) return Promise.resolve(Response.json({ runs: unfinished ? [RUN] : [] }));
    if (path.includes("/benchmarks/")) return Promise.resolve(Response.json({ run: unfinished ? RUN : { ...RUN, status: "finished" }, images: [], records: [] }));
    if (path.includes("/against/")) return Promise.resolve(Response.json(COMPARISON));
    if (path.endsWith("/evaluations")) return Promise.resolve(Response.json({ items: [ROW, OLD], unreadable: ["broken"] }));
    return Promise.resolve(Response.json(path.endsWith("/7") ? { ...OUT, row: OLD } : out));
  });
  render(
    <QueryClientProvider client={client}>
      <MantineProvider env="test">
        <I18nProvider language={language}>
          <MemoryRouter initialEntries={[at]}>
            <TopBarProvider>
              <Here />
              <Routes>
                <Route path="/evaluations" element={<EvaluationsPage />} />
                <Route path="/evaluations/:id" element={<EvaluationPage evaluationId={decodeURIComponent(at.split(/[/?]/)[2] ?? "")} />} />
              </Routes>
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { sent, user: userEvent.setup() };
}

afterEach(() => vi.unstubAllGlobals());

describe("the evaluation pages", () => {
  it("list runs and reports, and lead to two of them beside each other, the newer one against the older", async () => {
    const { user } = open("/evaluations");
    const compare = await screen.findByRole("button", { name: "Compare the two chosen" });
    expect(compare).toHaveProperty("disabled", true);
    expect(screen.getByText(/Cannot be read: broken/)).toBeTruthy();
    expect(screen.getAllByText("100% at k = 4")).toHaveLength(2);
    for (const box of screen.getAllByRole("checkbox")) await user.click(box);
    await user.click(compare);
    expect((await screen.findByTestId("here")).textContent).toBe("/evaluations/run:drills-m-r2?against=7");
  });

  it("show what a report rests on, what it cost, and its curves as figures too", async () => {
    const { user } = open("/evaluations/run:drills-m-r2");
    expect(await screen.findByText("1 not judged, 0 broken, 0 assisted by a person")).toBeTruthy();
    expect(screen.getByText("Cost per success").nextSibling?.textContent).toBe("$0.067");
    const curve = screen.getByRole("figure", { name: "Success by allowed steps" });
    expect(within(curve).getByText(/1 attempt was ended by its own step limit/)).toBeTruthy();
    expect(within(curve).getByRole("table", { hidden: true }).textContent).toContain("475.0%75.0%");
    expect(screen.getByRole("figure", { name: /pass@k, unbiased/ }).textContent).toContain("100.0%");
    await user.click(screen.getByRole("button", { name: "Curves of drills/rows" }));
    expect(screen.getAllByRole("figure", { name: "Success by allowed steps" })).toHaveLength(2);
  });

  it("compare two task by task, and say what can be chance", async () => {
    open("/evaluations/run:drills-m-r2?against=7");
    expect(await screen.findByText(/\+3.0 successes compared with what the earlier rates predict/)).toBeTruthy();
    expect(screen.getByText(/^Page size: .* each task's own, .* 320 × 240\.$/)).toBeTruthy();
    expect(screen.getByText(/The page sizes differ/)).toBeTruthy();
    const table = screen.getByRole("table", { name: "Against another evaluation" });
    expect(within(table).getByText("+75.0")).toBeTruthy();
    expect(within(table).getByText("0.140")).toBeTruthy();
    expect(screen.getByText("Only m r1 was evaluated on drills/tabs")).toBeTruthy();
  });

  it("let an admin register a run with where it is served, and say what was refused", async () => {
    const { sent, user } = open("/evaluations/run:drills-m-r2");
    await user.click(await screen.findByRole("button", { name: "Register…" }));
    const form = await screen.findByRole("dialog", { name: "Register m r2" });
    const dialog = within(form);
    expect(dialog.getByText(/do not promote the revision/)).toBeTruthy();
    expect(await violationsIn(form)).toEqual([]);
    await user.type(dialog.getByLabelText(/Endpoint/), "http://here/v1");
    await user.type(dialog.getByLabelText(/Model/), "m");
    await user.click(dialog.getByRole("button", { name: "Register" }));
    await waitFor(() =>
      expect(sent).toEqual([["POST", "/api/evaluations", { run: "drills-m-r2", base_url: "http://here/v1", model: "m", checkpoint: "", weight_version: "" }]]),
    );
    expect(await dialog.findByText("model missing")).toBeTruthy();
  });

  it("lead to the cycle and the judge that they come from, and say why one cannot be deleted", async () => {
    const cycle = { id: "c1", flywheel: "daily", number: 4 };
    const out = { ...OUT, cycle, judge_known: true, can_delete: true, report: { ...OUT.report, judge: "looks 2 from 0.5", judged: 3 } };
    const { sent, user } = open("/evaluations/run:drills-m-r2", { out });
    expect((await screen.findByRole("link", { name: "Gate of cycle 4 of daily" })).getAttribute("href")).toBe("/flywheel/c1");
    expect(screen.getByRole("link", { name: "looks 2 from 0.5" }).getAttribute("href")).toBe("/judges");
    await user.click(screen.getByRole("button", { name: "Delete" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Delete" }));
    await user.click(dialog.getByRole("button", { name: "Delete" }));
    expect(await dialog.findByText("model missing")).toBeTruthy();
    expect(sent).toEqual([["DELETE", "/api/evaluations/run:drills-m-r2", null]]);
  });

  it("list evaluations in progress, and show one until its report is there", async () => {
    open("/evaluations", { unfinished: true });
    expect((await screen.findByRole("link", { name: "drills-m-r2" })).getAttribute("href")).toBe("/evaluations/run:drills-m-r2");
    cleanup();
    open("/evaluations/run:drills-m-r2", { unfinished: true });
    expect(await screen.findByText("m r2 on drills")).toBeTruthy();
    expect(screen.getByText("3 of 8")).toBeTruthy();
    expect(screen.getByText("$0.50")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Cancel drills-m-r2" })).toBeTruthy();
    expect(screen.queryByText("Cost per success")).toBeNull();
  });

  it("offer researchers no registering, and speak Chinese", async () => {
    open("/evaluations/run:drills-m-r2", { admin: false, language: "zh" });
    expect(await screen.findByText("尝试与费用")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "登记…" })).toBeNull();
  });
});
