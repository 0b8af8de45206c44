/** The judges page: what is known and what is not, a threshold chosen by keys, a run followed and stopped, both languages. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Calibration, JudgeOut, JudgeRow, JudgesPage as Judges, RunOut, Sweep } from "@/generated/api";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";
import { makeRate } from "@/shared/testing/rates";

import JudgesPage from "./judges-page";

const AT = "2026-01-01T10:00:00Z";
const JUDGE: JudgeOut = {
  id: 3,
  ref: { kind: "outcome_model", name: "orm", revision: "r2", scripted: false },
  model: "orm",
  settings: { votes: 4, combine: "unanimous", temperature: 1, max_tokens: 512, images: 5, method: "single", rating_threshold: 3 },
  created_at: AT,
  used: true,
};
const rate = (successes: number, attempts: number) => makeRate(successes, attempts, 0.1, 0.9);
const at = (threshold: number): Calibration => ({
  threshold,
  true_positives: 3,
  false_positives: 1,
  true_negatives: 2,
  false_negatives: 0,
  precision: rate(3, 4),
  recall: rate(3, 3),
  false_positive_rate: rate(1, 3),
  accuracy: rate(5, 6),
  f1: 0.857,
});
const RUN: RunOut = {
  id: "run-1",
  status: "running",
  total: 10,
  judged: 4,
  refused: 0,
  error: "",
  created_at: AT,
  finished_at: null,
};
const ROW: JudgeRow = {
  pool: { id: 7, name: "Desktop basics" },
  judge: JUDGE,
  threshold: 0.5,
  finished: 10,
  judged: 8,
  unsaid: 2,
  counted: { successes: 3, failures: 3, unsaid_successes: 1, unsaid_failures: 0 },
  at_threshold: at(0.5),
  best: 0.8,
  run: null,
};
const SWEEP: Sweep = { judge: JUDGE.ref, counted: ROW.counted, points: [at(0.5), at(0.8)], best: 0.8 };

function open(rows: Partial<JudgeRow>[], { language = "en", sweep = SWEEP, judges = [JUDGE] }: { language?: Language; sweep?: Sweep; judges?: JudgeOut[] } = {}) {
  const page: Judges = { judges, pools: [ROW.pool], rows: rows.map((row) => ({ ...ROW, ...row })), reports: [{ id: 9, policy: "m r2", judge: "orm r2 from 0.5", judged: 3, attempts: 4, created_at: "2026-01-01T10:00:00Z" }] };
  const sent: [string, string, unknown][] = [];
  vi.stubGlobal("fetch", (path: string, { method = "GET", body }: RequestInit = {}) => {
    if (method !== "GET") {
      sent.push([method, path, typeof body === "string" ? JSON.parse(body) : null]);
      return Promise.resolve(new Response(null, { status: 204 }));
    }
    return Promise.resolve(Response.json(path.endsWith("/sweep") ? sweep : page));
  });
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <MantineProvider>
        <I18nProvider language={language}>
          <MemoryRouter>
            <TopBarProvider>
              <JudgesPage />
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { sent, user: userEvent.setup() };
}

afterEach(() => vi.unstubAllGlobals());

describe("the judges page", () => {
  it("shows every figure with its counts and bounds", async () => {
    open([{}]);
    expect(await screen.findByText("8 of 10")).toBeTruthy();
    expect(screen.getByText(/75%/).textContent).toContain("10%–90%, 3 of 4");
    expect(screen.getByText("0.86")).toBeTruthy();
    expect(screen.getByText(/3 done, 3 not/)).toBeTruthy();
    expect(screen.getByText(/4 votes, unanimous/)).toBeTruthy();
    expect(screen.getByRole("link", { name: "m r2" }).getAttribute("href")).toBe("/evaluations/9");
    expect(screen.getByRole("link", { name: "Download as CSV" }).getAttribute("href")).toBe("/api/judges/calibrations.csv");
  });

  it("says so while no person's word is there", async () => {
    open([{ at_threshold: null, best: null }]);
    expect(await screen.findByText("No human outcomes yet")).toBeTruthy();
  });

  it("says what to do where no judge judges, and lets one judge a pool", async () => {
    const { sent, user } = open([]);
    expect(await screen.findByText("No judge is assigned yet")).toBeTruthy();
    const submit = screen.getByRole<HTMLButtonElement>("button", { name: "Assign" });
    expect(submit.disabled).toBe(true);
    await user.click(screen.getByRole("combobox", { name: "Judge" }));
    await user.click(await screen.findByRole("option", { name: "orm r2", hidden: true }));
    await user.click(screen.getByRole("combobox", { name: "Pool" }));
    await user.click(await screen.findByRole("option", { name: "Desktop basics", hidden: true }));
    await user.click(submit);
    await waitFor(() => expect(sent).toEqual([["POST", "/api/pools/7/judges/3", { threshold: 0.5 }]]));
  });

  it("adds a judge, and not several votes that are one", async () => {
    const { sent, user } = open([]);
    await user.click(await screen.findByRole("button", { name: "New judge…" }));
    const dialog = await screen.findByRole("dialog", { name: "Add a judge" });
    const submit = within(dialog).getByRole<HTMLButtonElement>("button", { name: "Add the judge" });
    await user.selectOptions(within(dialog).getByRole("combobox", { name: "Kind" }), "screen");
    await user.type(within(dialog).getByRole("textbox", { name: "Name" }), "checker");
    await user.type(within(dialog).getByRole("textbox", { name: /^Address/ }), "http://judge:8000/v1");
    await user.type(within(dialog).getByRole("textbox", { name: "Name of the model on that server" }), "m");
    const votes = within(dialog).getByRole("textbox", { name: "Votes" });
    await user.clear(votes);
    await user.type(votes, "3");
    expect(within(dialog).getByRole("alert").textContent).toContain("the same vote");
    expect(submit.disabled).toBe(true);
    const temperature = within(dialog).getByRole("textbox", { name: "Temperature" });
    await user.clear(temperature);
    await user.type(temperature, "1");
    expect(within(dialog).queryByRole("textbox", { name: "Lowest rating of a screen" })).toBeNull();
    await user.selectOptions(within(dialog).getByRole("combobox", { name: "How it looks at screens" }), "key_points");
    const rating = within(dialog).getByRole("textbox", { name: "Lowest rating of a screen" });
    await user.clear(rating);
    await user.type(rating, "4");
    await user.click(submit);
    await waitFor(() => expect(sent).toHaveLength(1));
    expect(sent[0]).toEqual([
      "POST",
      "/api/judges",
      {
        ...{ kind: "screen", name: "checker", revision: "1", base_url: "http://judge:8000/v1", model: "m", scripted: false },
        settings: {
          ...{ votes: 3, combine: "mean", temperature: 1, max_tokens: 1024, images: 5 },
          ...{ method: "key_points", rating_threshold: 4 },
        },
      },
    ]);
  });

  it("tries a judge on labelled episodes, and deletes one that was never used", async () => {
    const { sent, user } = open([{}], { judges: [JUDGE, { ...JUDGE, id: 4, ref: { ...JUDGE.ref, revision: "r3" }, used: false }] });
    await user.click(await screen.findByRole("button", { name: "Try orm on labelled episodes of Desktop basics" }));
    await waitFor(() => expect(sent).toEqual([["POST", "/api/pools/7/judges/3/trials", { labelled_only: true, most: 20 }]]));
    const unused = screen.getByRole("list", { name: "Judges that are not in use" });
    expect(within(unused).getAllByRole("listitem")).toHaveLength(1);
    await user.click(within(unused).getByRole("button", { name: "Delete orm r3" }));
    await waitFor(() => expect(sent[1]).toEqual(["DELETE", "/api/judges/4", null]));
  });

  it("chooses a threshold with keys alone", async () => {
    const { sent, user } = open([{}]);
    const button = await screen.findByRole("button", { name: "0.50: threshold of orm in Desktop basics" });
    button.focus();
    await user.keyboard("{Enter}");
    const dialog = await screen.findByRole("dialog");
    expect(await within(dialog).findByText("Best F1")).toBeTruthy();
    within(dialog).getByRole("button", { name: "Use 0.80" }).focus();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    expect(sent).toEqual([["POST", "/api/pools/7/judges/3", { threshold: 0.8 }]]);
  });

  it("follows a run and stops it", async () => {
    const { sent, user } = open([{ run: RUN }]);
    const progress = await screen.findByRole("progressbar", { name: "Progress" });
    expect(progress.getAttribute("aria-valuenow")).toBe("40");
    await user.click(screen.getByRole("button", { name: "Cancel orm judging Desktop basics" }));
    await waitFor(() => expect(sent).toEqual([["POST", "/api/judge-runs/run-1/cancel", null]]));
  });

  it("says why a run failed, and lets it be tried again", async () => {
    const { sent, user } = open([{ run: { ...RUN, status: "failed", error: "nobody answers" } }]);
    expect(await screen.findByText("Failed: nobody answers")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Judge Desktop basics with orm" }));
    await waitFor(() => expect(sent).toEqual([["POST", "/api/pools/7/judges/3/runs", null]]));
  });

  it("speaks Chinese", async () => {
    open([{}], { language: "zh" });
    expect(await screen.findByText("假阳性率")).toBeTruthy();
    expect(screen.getByText(/4 票须一致/)).toBeTruthy();
  });
});
