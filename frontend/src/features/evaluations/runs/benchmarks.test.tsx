/** The benchmarks page: what runs now, what was lost, who may cancel, and how runs compare, in both languages. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter, useLocation } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { BenchmarkChoices, BenchmarkRunOut, BenchmarkRunRow, BenchmarksPage as Benchmarks, LeaderboardRow, TaskPictures } from "@/generated/api";
import { sessionQuery } from "@/shared/account/account";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";

import BenchmarksPage from "./benchmarks-page";


const AT = "2026-01-01T10:00:00Z";
const RUN: BenchmarkRunRow = {
  name: "games-m-r2",
  benchmark: "games",
  policy: "m",
  revision: "r2",
  attempts: 8,
  status: "running",
  progress: {
    total: 8,
    done: 3,
    successes: 2,
    infrastructure: 1,
    cost_usd: 0.5,
    running: [{ task: "games/snake-1", name: "snake", seed: 1, started_at: AT }],
    started_at: AT,
    updated_at: AT,
    ended: false,
  },
  harness: false,
  software: "0.1.0",
  created_at: AT,
  can_resume: false,
  can_restart: false,
  can_delete: false,
  error: "",
};
const ROW: LeaderboardRow = {
  run: "games-m-r1",
  policy: "m",
  revision: "r1",
  score: 0.62,
  score_low: 0.5,
  score_high: 0.74,
  success: 0.5,
  success_low: 0.2,
  success_high: 0.8,
  normalised: 0.4,
  human: 62.5,
  steps: 12,
  cost_usd: null,
  attempts: 8,
  infrastructure: 0,
  missing: 0,
  harness: false,
  games: [],
  games_mean: null,
  finding: null,
  chance: null,
  how: "ui_tars_1_5, temperature 0",
  finished_at: AT,
};
const DETAILS: BenchmarkRunOut = {
  run: RUN,
  images: ["browser"],
  records: [
    {
      judge: "",
      format: "pilothouse-attempt-1",
      task: "games/maze",
      suite: "games",
      name: "maze",
      level: 1,
      seed: 0,
      actor: "policy",
      by: "m r2",
      assisted: false,
      outcome: "infrastructure",
      trajectory: null,
      reward: null,
      points: null,
      steps: 0,
      terminated: false,
      truncated: false,
      version: "",
      verifier: "",
      code: "machine_gone",
      reason: "its host was killed",
      cost_usd: null,
      seconds: null,
      ended_at: AT,
    },
  ],
};

const CHOICES: BenchmarkChoices = {
  reachable: true,
  suites: [
    { name: "drills", levels: 3, tasks: 2, sizes: [{ name: "rows", sizes: ["320x240", "640x480"] }], scripted: ["rows", "tabs"] },
    { name: "lmgame", levels: 1, tasks: 6, sizes: [], scripted: ["2048"] },
    { name: "phone", levels: 1, tasks: 18, sizes: [], scripted: [] },
  ],
  pools: ["Shop"],
  scripted_pools: [],
  images: ["browser"],
  revisions: [{ id: 7, name: "m", revision: "r3", checkpoint: "/data/r3", scripted: false }],
  harness_sets: ["lmgame"],
};

const PICTURES: TaskPictures = { tasks: [{ name: "rows", picture: "data:image/webp;base64,AA==" }, { name: "tabs", picture: "" }], pending: false };

function Here() {
  return <output data-testid="here">{useLocation().pathname}</output>;
}

function open(page: Partial<Benchmarks>, { language = "en", starter = true }: { language?: Language; starter?: boolean } = {}) {
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(sessionQuery.queryKey, { csrf: "", user: { id: 1, username: "one", name: "One", roles: [starter ? "researcher" : "reviewer"] } } as never);
  const sent: [string, string][] = [];
  const bodies: unknown[] = [];
  vi.stubGlobal("fetch", (path: string, { method = "GET", body }: RequestInit = {}) => {
    if (method !== "GET") {
      sent.push([method, path]);
      if (typeof body === "string") bodies.push(JSON.parse(body));
      if (path.endsWith("/benchmarks")) return Promise.resolve(Response.json({ name: "games-m-r3" }, { status: 201 }));
      return Promise.resolve(new Response(null, { status: 204 }));
    }
    if (path.includes("/pictures")) return Promise.resolve(Response.json(PICTURES));
    if (path.endsWith("/choices")) return Promise.resolve(Response.json(CHOICES));
    return Promise.resolve(Response.json(path.endsWith("/benchmarks") ? { runs: [], leaderboards: [], unreadable: [], ...page } : DETAILS));
  });
  render(
    <QueryClientProvider client={client}>
      <MantineProvider>
        <I18nProvider language={language}>
          <MemoryRouter>
            <TopBarProvider>
              <Here />
              <BenchmarksPage />
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { sent, bodies, user: userEvent.setup() };
}

afterEach(() => vi.unstubAllGlobals());

describe("the benchmarks page", () => {
  it("says how to start a run where there is none", async () => {
    open({});
    expect(await screen.findByText("No runs yet")).toBeTruthy();
    expect(screen.getByText(/pilothouse benchmark games/)).toBeTruthy();
  });

  it("shows progress and cost, and the attempts of a run when it is opened", async () => {
    const { user } = open({ runs: [RUN] });
    expect(await screen.findByText("3 of 8")).toBeTruthy();
    expect(screen.getByText("$0.50")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Attempts of games-m-r2" }));
    expect(await screen.findByText(/snake, seed 1: begun/)).toBeTruthy();
    const lost = screen.getByText(/machine_gone/);
    expect(lost.getAttribute("title")).toBe("its host was killed");
    expect(screen.getByText("maze, level 1, seed 0")).toBeTruthy();
  });

  it("lets a running run be cancelled after a word", async () => {
    const { sent, user } = open({ runs: [RUN, { ...RUN, name: "done", status: "finished" }] });
    expect(await screen.findAllByRole("button", { name: /^Cancel/ })).toHaveLength(1);
    await user.click(screen.getByRole("button", { name: "Cancel games-m-r2" }));
    const dialog = await screen.findByRole("dialog", { name: "Cancel games-m-r2" });
    for (const button of within(dialog).getAllByRole("button", { name: "Cancel" }).slice(-1)) await user.click(button);
    await waitFor(() => expect(sent).toEqual([["POST", "/api/benchmarks/games-m-r2/cancel"]]));
  });

  it("starts a run of a pool by a revision", async () => {
    const { sent, bodies, user } = open({});
    await user.click(await screen.findByRole("button", { name: "Start an evaluation…" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Start an evaluation" }));
    const tasks = await dialog.findByLabelText("Tasks");
    expect(dialog.getByText("Levels")).toBeTruthy();
    await user.selectOptions(tasks, "Shop");
    expect(dialog.queryByText("Levels")).toBeNull();
    await user.selectOptions(dialog.getByLabelText("Policy"), "m r3");
    await user.type(dialog.getByLabelText("Most steps"), "30");
    await user.type(dialog.getByLabelText("Temperature"), "0.5");
    await user.type(dialog.getByLabelText("Serve a checkpoint"), "/data/r4");
    await user.click(dialog.getByRole("button", { name: "Start" }));
    await waitFor(() => expect(sent).toEqual([["POST", "/api/benchmarks"]]));
    expect(bodies).toEqual([
      {
        benchmark: "pool:Shop",
        tasks: [],
        levels: [1],
        size: null,
        revision: 7,
        checkpoint: "/data/r4",
        checkpoint_revision: null,
        temperature: 0.5,
        seeds: 1,
        first_seed: 0,
        parallel: 2,
        max_steps: 30,
        harness: null,
      },
    ]);
    await waitFor(() => expect(screen.getByTestId("here").textContent).toBe("/evaluations/run:games-m-r3"));
  });

  it("starts a run of tasks that are chosen by their pictures", async () => {
    const { bodies, user } = open({});
    await user.click(await screen.findByRole("button", { name: "Start an evaluation…" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Start an evaluation" }));
    const details = (await dialog.findByText(/choose some by their pictures/)).closest("details");
    if (details) {
      details.open = true;
      fireEvent(details, new Event("toggle"));
    }
    expect(await dialog.findByText("No picture")).toBeTruthy();
    await user.click(dialog.getByRole("button", { name: "rows" }));
    expect(dialog.getByRole("button", { name: "rows" }).getAttribute("aria-pressed")).toBe("true");
    await user.click(dialog.getByRole("combobox", { name: "Screen size" }));
    await user.click(await screen.findByRole("option", { name: "640 × 480", hidden: true }));
    await user.click(await dialog.findByRole("button", { name: /tabs/ }));
    expect(dialog.getByText("No size is offered by all chosen tasks: each has its own")).toBeTruthy();
    await user.click(await dialog.findByRole("button", { name: /tabs/ }));
    await user.click(dialog.getByRole("combobox", { name: "Screen size" }));
    await user.click(await screen.findByRole("option", { name: "640 × 480", hidden: true }));
    await user.click(dialog.getByRole("button", { name: "Start" }));
    await waitFor(() => expect(bodies).toHaveLength(1));
    expect(bodies[0]).toMatchObject({ benchmark: "drills", tasks: ["rows"], levels: [1], size: [640, 480] });
  });

  it("starts a run of the tasks of a file", async () => {
    const { bodies, user } = open({});
    await user.click(await screen.findByRole("button", { name: "Start an evaluation…" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Start an evaluation" }));
    await user.selectOptions(await dialog.findByLabelText("Tasks"), "A file…");
    expect(dialog.getByRole("button", { name: "Start" })).toHaveProperty("disabled", true);
    const input = document.querySelector<HTMLInputElement>("input[type=file]");
    if (input) await user.upload(input, new File(['{"id": "a"}'], "my tasks.jsonl"));
    await waitFor(() => expect(dialog.getByRole("button", { name: "Start" })).toHaveProperty("disabled", false));
    await user.click(dialog.getByRole("button", { name: "Start" }));
    await waitFor(() => expect(bodies).toHaveLength(1));
    expect(bodies[0]).toMatchObject({ benchmark: "file:my-tasks.jsonl", file: '{"id": "a"}', image: "", revision: 7 });
  });

  it("offers the harness to a revision at a set of games alone", async () => {
    const { bodies, user } = open({});
    await user.click(await screen.findByRole("button", { name: "Start an evaluation…" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Start an evaluation" }));
    await user.selectOptions(await dialog.findByLabelText("Tasks"), "lmgame");
    expect(dialog.queryByText(/have a script/)).toBeNull();
    await user.selectOptions(dialog.getByLabelText("Policy"), "The tasks' own scripts");
    expect(dialog.getByText("1 of 6 tasks have a script. The others fail.")).toBeTruthy();
    expect(dialog.queryByLabelText("Harness")).toBeNull();
    await user.selectOptions(dialog.getByLabelText("Policy"), "m r3");
    await user.selectOptions(dialog.getByLabelText("Harness"), "Text only");
    await user.click(dialog.getByRole("button", { name: "Start" }));
    await waitFor(() => expect(bodies).toHaveLength(1));
    expect(bodies[0]).toMatchObject({ benchmark: "lmgame", revision: 7, harness: "text" });
  });

  it("offers scripts only where some task has one", async () => {
    const { user } = open({});
    await user.click(await screen.findByRole("button", { name: "Start an evaluation…" }));
    const dialog = within(await screen.findByRole("dialog", { name: "Start an evaluation" }));
    const tasks = await dialog.findByLabelText("Tasks");
    const scripts = () => dialog.getByRole("option", { name: "The tasks' own scripts" });
    await user.selectOptions(dialog.getByLabelText("Policy"), "The tasks' own scripts");
    expect(dialog.queryByText(/script\b.*\./)).toBeNull();
    for (const without of ["phone", "Shop"]) {
      await user.selectOptions(tasks, without);
      expect(scripts()).toHaveProperty("disabled", true);
      expect(dialog.getByLabelText("Policy")).toHaveProperty("value", "7");
      expect(dialog.getByText("None of these tasks has a script of its own.")).toBeTruthy();
    }
    await user.selectOptions(tasks, "A file…");
    expect(scripts()).toHaveProperty("disabled", false);
    await user.selectOptions(dialog.getByLabelText("Policy"), "The tasks' own scripts");
    expect(dialog.getByText(/tasks that bring a solution have a script/)).toBeTruthy();
  });

  it("names runs of the tasks' own scripts by what they are", async () => {
    open({ runs: [{ ...RUN, policy: "expert", revision: "expert" }] });
    expect(await screen.findByText("The tasks' own scripts")).toBeTruthy();
    expect(screen.queryByText(/expert expert/)).toBeNull();
  });

  it("shows the games of runs with the harness and without, raw and normalised", async () => {
    const rows = [
      { ...ROW, games: [{ name: "2048", raw: 512.4, normalised: 100 }], games_mean: 100 },
      { ...ROW, run: "with", harness: true, games: [{ name: "2048", raw: 700, normalised: 1 }], games_mean: 1 },
    ];
    open({ leaderboards: [{ name: "lmgame", tasks: 6, tasks_sha256: "ab".repeat(32), verifiers_sha256: "cd".repeat(32), rows }] });
    const table = within(await screen.findByRole("table", { name: "Games: lmgame" }));
    expect(table.getByText("Without")).toBeTruthy();
    expect(table.getByText("With")).toBeTruthy();
    expect(table.getByText("512.4")).toBeTruthy();
    expect(table.getByText("(100)")).toBeTruthy();
  });

  it("says why a run ended and resumes it", async () => {
    const ended = { ...RUN, status: "interrupted" as const, can_resume: true, error: "bridge_unavailable: it is gone" };
    const { sent, user } = open({ runs: [ended] });
    expect(await screen.findByText("bridge_unavailable: it is gone")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Resume games-m-r2" }));
    await waitFor(() => expect(sent).toEqual([["POST", "/api/benchmarks/games-m-r2/resume"]]));
  });

  it("offers no cancelling to those who start none", async () => {
    open({ runs: [RUN] }, { starter: false });
    expect(await screen.findByText("3 of 8")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Cancel/ })).toBeNull();
  });

  it("compares runs with their intervals, people's hundred, and how they were run", async () => {
    const rows = [ROW, { ...ROW, run: "games-m-r0", revision: "r0", score: 0.2, finding: "worse" as const, chance: 0.01 }];
    open({ leaderboards: [{ name: "games", tasks: 8, tasks_sha256: "ab".repeat(32), verifiers_sha256: "cd".repeat(32), rows }] });
    expect(await screen.findByText("Leaderboard: games")).toBeTruthy();
    expect(screen.getAllByText("62.5")).toHaveLength(2);
    expect(screen.getByText("Worse")).toBeTruthy();
    expect(screen.getAllByText("ui_tars_1_5, temperature 0")).toHaveLength(2);
  });

  it("speaks Chinese", async () => {
    open({ runs: [RUN] }, { language: "zh" });
    expect(await screen.findByText("3 / 8")).toBeTruthy();
  });
});
