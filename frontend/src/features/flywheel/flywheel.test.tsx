/** The flywheel's pages: no flywheel yet, cycles and the routes of samples, a cycle started, stopped and resumed, why a gate did not pass, both languages. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { cleanup, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { CheckpointLineage, CheckpointOut, Recipe, SampleOut, StageOut, TrajectoryLineage, TurnOut, TurnRow, WheelOut } from "@/generated/api";
import { sessionQuery, type Role } from "@/shared/account/account";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { violationsIn } from "@/shared/testing/accessibility";
import { TopBarProvider } from "@/shared/ui/top-bar";
import { makeRate } from "@/shared/testing/rates";

import FlywheelPage from "./flywheel-page";
import { reinforcement } from "./recipe-form";
import { TrainingUses } from "./training-uses";
import CyclePage from "./cycle-page";

const AT = "2026-01-01T10:00:00Z";
const stage = (name: StageOut["name"], answers: Partial<StageOut> = {}): StageOut => ({
  name,
  state: "done",
  tries: 1,
  result: {},
  code: "",
  error: "",
  began_at: AT,
  ended_at: AT,
  ...answers,
});
const CYCLE: TurnRow = {
  id: "turn-2",
  number: 2,
  state: "done",
  unheard: false,
  by_clock: false,
  requested_by: "admin",
  created_at: AT,
  ended_at: AT,
  stages: [stage("collect", { result: { samples: 64 } })],
  routes: { sft: 28, ct: 36, none: 5 },
  active: "toy start",
  revision: "toy main-0002",
  success: makeRate(26, 40),
  success_before: makeRate(11, 40),
  gain: 0.375,
  overridden: null,
  people: null,
  passed: true,
  reasons: [],
};
const RECIPE: Recipe = {
  policy: "toy",
  dialect: "ui_tars_1_5",
  start: "/start",
  most: 5000,
  least: 1,
  pools: [],
  specialists: null,
  accepted_only: false,
  replay: false,
  judge: false,
  passes: 0.5,
  general: {},
  ...{ ct: null, preferences: null },
  sft: null,
  rl: null,
  serving: null,
  trials: { world: "toy", suite: "", tasks: [], first_seed: 0, seeds: 40, fresh_pages: false, parallel: 1, threads: 1, size: "", source: "", image: "", temperature: 1 },
  server: "",
  activate: true,
};
const BUNDLED: Recipe = {
  ...RECIPE,
  ...{ policy: "nano", start: "/nano", server: "http://127.0.0.1:8092" },
  sft: { by: "nano", updates: 80, every: 1, shares: { fresh: 0.5, earlier: 0.5, own: 0, general: 0 }, corrections: "interventions", settings: {} },
  trials: { ...RECIPE.trials, world: "bridge", suite: "drills", tasks: ["press"], first_seed: 1_000_000 },
};
const DRAFT = { name: "Small screens", recipe: BUNDLED, seeds: 20, missing: ["gate"] };
const POOLS = [
  { id: 6, name: "Games", active: 2 },
  { id: 7, name: "Small screens", active: 1 },
  { id: 8, name: "Uploads", active: null },
];
const REVISIONS = [
  { id: 1, checkpoint: "/nano" },
  { id: 2, checkpoint: "" },
];
const FIXED = { "/policies/pools": POOLS, "/policies": REVISIONS, "/wheels/draft": DRAFT };
const PLAYING: Recipe = { ...BUNDLED, rl: reinforcement(BUNDLED.trials) };
const FLYWHEEL: WheelOut = { id: 4, name: "main", pool: "lights", every_hours: 24, recipe: RECIPE, turns: [CYCLE] };
const SAMPLE: SampleOut = {
  id: 1,
  episode: "0123456789",
  executable: null,
  duplicate_of: null,
  grounds: null,
  value: 1,
  valued_by: "verifier",
  contested: true,
  route: "sft",
  reason: "passes",
};
const OUT: TurnOut = { wheel: "main", pool: "lights", recipe: RECIPE, row: CYCLE, last: true, compared: [], evaluation: null, checkpoints: [], played: [], curves: [], folder: "" };

const MADE: CheckpointOut = {
  id: 7,
  turn: 2,
  phase: "sft",
  domain: "",
  path: "/w",
  sha256: "0123456789abcdef",
  begun_with: "",
  parent: null,
  parts: [],
  revision: "toy main-0002",
  fresh: 1,
  earlier: 0,
  played: 0,
};

type ServerAnswers = { flywheels?: WheelOut[]; cycle?: TurnOut; made?: CheckpointLineage; lineage?: TrajectoryLineage[]; language?: Language; role?: Role };

function knownAnswer(path: string, made: CheckpointLineage | undefined): unknown {
  if (path.includes("/samples")) return { items: path.includes("=sft") ? [SAMPLE] : [], next: null };
  if (path.includes("/checkpoints/")) return made;
  return Object.entries(FIXED).find(([part]) => path.includes(part))?.[1];
}

function open({ flywheels, cycle, made, lineage, language = "en", role = "admin" }: ServerAnswers) {
  const sent: string[] = [];
  vi.stubGlobal("fetch", (path: string, { method = "GET", body }: RequestInit = {}) => {
    if (method !== "GET" || path.endsWith("/lineage")) sent.push(typeof body === "string" ? `${method} ${path} ${body}` : `${method} ${path}`);
    const found = path.endsWith("/wheels") ? flywheels : (lineage ?? cycle);
    return Promise.resolve(method === "GET" ? Response.json(knownAnswer(path, made) ?? found) : new Response(null, { status: 204 }));
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  const user = { id: 1, username: "a", name: "A", roles: [role], preferences: {} };
  client.setQueryData(sessionQuery.queryKey, { user } as never);
  render(
    <QueryClientProvider client={client}>
      <MantineProvider>
        <I18nProvider language={language}>
          <MemoryRouter>
            <TopBarProvider>{lineage ? <TrainingUses episodeId="e-1" /> : cycle ? <CyclePage cycleId={cycle.row.id} /> : <FlywheelPage />}</TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { sent, user: userEvent.setup() };
}

/** What reinforcement plays in the recipe of a request. */
const playSent = (request: string | undefined) =>
  (JSON.parse(request?.slice(request.indexOf("{")) ?? "{}") as { recipe?: Recipe }).recipe?.rl?.play;

afterEach(() => vi.unstubAllGlobals());

describe("the flywheel's page", () => {
  it("explains a flywheel where there is none", async () => {
    open({ flywheels: [] });
    expect(await screen.findByText("No flywheel yet")).toBeTruthy();
  });

  it("shows the routes of samples, and starts a cycle", async () => {
    const { sent, user } = open({ flywheels: [FLYWHEEL] });
    expect((await screen.findByRole("link", { name: "Cycle 2" })).getAttribute("href")).toBe("/flywheel/turn-2");
    for (const figure of ["28", "36", "65%", "28%", "passed"]) expect(screen.getByText(figure)).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Run a cycle of main" }));
    await waitFor(() => expect(sent).toEqual(["POST /api/wheels/4/turns"]));
  });

  it("makes a flywheel from what is known of a pool", async () => {
    const { sent, user } = open({ flywheels: [] });
    await user.click(await screen.findByRole("button", { name: "New flywheel…" }));
    const form = within(await screen.findByRole("dialog", { name: "New flywheel" }));
    expect(await form.findByText(/has no gate/)).toBeTruthy();
    await user.click(form.getByRole("switch", { name: /^Reinforcement/ }));
    await user.type(form.getByRole("combobox", { name: "Further pools" }), "Games{ArrowDown}{Enter}");
    await user.selectOptions(form.getByRole("combobox", { name: "Imitation of several pools" }), "samples");
    await user.selectOptions(form.getByRole("combobox", { name: "People's corrections" }), "classes");
    await user.click(form.getByRole("switch", { name: /^Preferences/ }));
    for (const name of ["takeovers", /^Fresh seeds/]) await user.click(form.getByRole("checkbox", { name }));
    await user.click(form.getByRole("button", { name: "Create" }));
    await waitFor(() => expect(sent).toHaveLength(1));
    const [address = "", body = ""] = sent[0]?.split(/ (?={)/) ?? [];
    expect(address).toBe("POST /api/wheels");
    const play = { suite: "drills", size: "", parallel: 1, first_seed: 0, pages: 96, seeds: 4, group: 1, threads: 1 };
    const apart = { pools: ["Games"], specialists: { weights: "samples" }, sft: { corrections: "classes" }, trials: { fresh_pages: true }, preferences: { algorithm: "dpo", choices: ["override", "mark"], earlier: true } };
    expect(JSON.parse(body)).toMatchObject({ pool: 7, name: "Small screens", every_hours: null, by_need: true, recipe: { policy: "nano", rl: { play }, ...apart } });
  });

  it("takes a recipe as JSON, and goes back to the form once it is one", async () => {
    const { sent, user } = open({ flywheels: [FLYWHEEL] });
    await user.click(await screen.findByRole("button", { name: "Edit main" }));
    const form = within(await screen.findByRole("dialog", { name: "Recipe of main" }));
    expect(form.getByRole<HTMLButtonElement>("button", { name: "Save" }).disabled).toBe(true);
    await user.click(form.getByRole("radio", { name: "JSON" }));
    const json = form.getByRole("textbox", { name: "JSON" });
    await user.clear(json);
    expect(form.getByText("This is no recipe in JSON")).toBeTruthy();
    await user.paste(JSON.stringify(BUNDLED));
    await user.click(form.getByRole("radio", { name: "Form" }));
    expect(form.getByRole<HTMLInputElement>("textbox", { name: /^Policy server/ }).value).toBe("http://127.0.0.1:8092");
    await user.click(form.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(sent[0]).toContain("PATCH /api/wheels/4"));
  });

  it("plays another pool's tasks, and a suite at some of its levels", async () => {
    const { sent, user } = open({ flywheels: [{ ...FLYWHEEL, recipe: PLAYING }] });
    const edit = async () => {
      await user.click(await screen.findByRole("button", { name: "Edit main" }));
      return within(await screen.findByRole("dialog", { name: "Recipe of main" }));
    };
    const suite = await edit();
    await user.type(suite.getByLabelText("Levels"), "2,x,3,");
    await user.click(suite.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(playSent(sent[0])).toMatchObject({ source: "suite", suite: "drills", levels: [2, 3], pool: "" }));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    const pool = await edit();
    await user.selectOptions(pool.getByRole("combobox", { name: "Plays" }), "A pool's tasks");
    await user.selectOptions(pool.getByRole("combobox", { name: "Pool" }), "Uploads");
    await user.click(pool.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(playSent(sent[1])).toMatchObject({ source: "pool", suite: "", levels: [], size: "", pool: "Uploads" }));
  });

  it("reads a recipe of before that names neither levels nor pool, in Chinese too", async () => {
    const { user } = open({ flywheels: [FLYWHEEL], language: "zh" });
    await user.click(await screen.findByRole("button", { name: "编辑 main" }));
    const form = within(await screen.findByRole("dialog"));
    await user.click(form.getByRole("radio", { name: "JSON" }));
    await user.clear(form.getByRole("textbox", { name: "JSON" }));
    const { levels: _levels, pool: _pool, ...play } = PLAYING.rl?.play ?? {};
    await user.paste(JSON.stringify({ ...PLAYING, rl: { ...PLAYING.rl, play: { ...play, source: "pool", suite: "" } } }));
    await user.click(form.getByRole("radio", { name: "表单" }));
    expect(form.getByRole<HTMLSelectElement>("combobox", { name: "任务池" }).selectedOptions[0]?.text).toBe("数据飞轮自己的任务池");
    await user.selectOptions(form.getByRole("combobox", { name: "采样的任务" }), "任务套件");
    expect(form.getByLabelText("级别")).toBeTruthy();
  });

  it("deletes one that has had no cycle, when that was confirmed", async () => {
    const { sent, user } = open({ flywheels: [{ ...FLYWHEEL, turns: [] }] });
    await user.click(await screen.findByRole("button", { name: "Delete main" }));
    await user.click(within(await screen.findByRole("dialog", { name: "Delete main" })).getByRole("button", { name: "Delete" }));
    await waitFor(() => expect(sent).toEqual(["DELETE /api/wheels/4"]));
  });

  it("lets researchers look and change nothing", async () => {
    open({ flywheels: [FLYWHEEL], role: "researcher" });
    expect(await screen.findByRole("link", { name: "Cycle 2" })).toBeTruthy();
    expect(screen.queryByRole("button", { name: "New flywheel…" })).toBeNull();
    expect(screen.queryByRole("button", { name: "Edit main" })).toBeNull();
  });

  it("stops a running cycle, and resumes only the last failed one", async () => {
    const running: TurnRow = { ...CYCLE, id: "turn-3", number: 3, state: "running", passed: null, stages: [stage("train", { state: "begun" })] };
    const { sent, user } = open({ flywheels: [{ ...FLYWHEEL, turns: [running, { ...CYCLE, state: "failed" }] }] });
    expect((await screen.findByRole<HTMLButtonElement>("button", { name: "Run a cycle of main" })).disabled).toBe(true);
    expect(screen.getByText(/Train 0 of 9/)).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Resume cycle 2" })).toBeNull();
    await user.click(screen.getByRole("button", { name: "Stop cycle 3" }));
    await waitFor(() => expect(sent).toEqual(["POST /api/turns/turn-3/cancel"]));
  });

  it("shows researchers everything and lets them start nothing", async () => {
    open({ flywheels: [{ ...FLYWHEEL, turns: [{ ...CYCLE, state: "failed" }] }], role: "researcher" });
    expect(await screen.findByText("failed")).toBeTruthy();
    expect(screen.queryAllByRole("button")).toEqual([]);
  });

  it("speaks Chinese", async () => {
    open({ flywheels: [FLYWHEEL], language: "zh" });
    expect(await screen.findByText("第 2 轮")).toBeTruthy();
  });
});

describe("a cycle's page", () => {
  it("says what people gave a cycle and what an hour of it gained, and that what passed is not better", async () => {
    const people = { episodes: 10, hours: 0.5, judged: 40, corrected: 8, gain: -0.0125, gain_per_hour: -0.025 };
    const rate = { successes: 50, attempts: 80, rate: 0.625, low: 0.5, high: 0.7 };
    open({ cycle: { ...OUT, row: { ...CYCLE, people, success: rate, success_before: rate, gain: 0 } } });
    expect(await screen.findByText(/Hours of episodes: 0\.50\. Episodes: 10\. Proposals judged: 40, of them corrected: 8\./)).toBeTruthy();
    expect(screen.getByText(/That is -2\.5 percentage points an hour/)).toBeTruthy();
    expect(screen.getByText("passed: not worse")).toBeTruthy();
  });

  it("gives the reason of each route, and why the gate did not pass", async () => {
    const rejected: TurnRow = { ...CYCLE, passed: false, reasons: [{ code: "worse", subject: "", found: null, wanted: null }] };
    const { user } = open({ cycle: { ...OUT, row: rejected } });
    expect(await screen.findByText("good enough to imitate")).toBeTruthy();
    expect(screen.getByText("contested")).toBeTruthy();
    expect(screen.getByText("worse than the active one, by more than chance")).toBeTruthy();
    await user.click(screen.getByText("Excluded 5"));
    expect(await screen.findByText("No sample went there")).toBeTruthy();
  });

  it("shows a training's figures by name, others on request, and another cycle's beside them", async () => {
    const curve = { phase: "rl" as const, domain: "", updates: [1, 2], figures: { reward: [0.1, 0.4], entropy: [2, null], queue_depth: [3, 4] } };
    const other: TurnRow = { ...CYCLE, id: "turn-1", number: 1, stages: [stage("train")] };
    const { user } = open({ cycle: { ...OUT, curves: [curve], folder: "/data/turn-2/train" }, flywheels: [{ ...FLYWHEEL, turns: [CYCLE, other] }] });
    expect(await screen.findByRole("figure", { name: "Reinforcement: Reward over 2 updates, 0.400 in the end" })).toBeTruthy();
    expect(screen.getByRole("figure", { name: "Reinforcement: Entropy over 2 updates, – in the end" })).toBeTruthy();
    expect(screen.queryByRole("figure", { name: /queue_depth/ })).toBeNull();
    await user.click(screen.getByText("More figures (1)"));
    expect(await screen.findByRole("figure", { name: /queue_depth/ })).toBeTruthy();
    expect(screen.getByText("TensorBoard files: /data/turn-2/train")).toBeTruthy();
    await user.selectOptions(await screen.findByRole("combobox", { name: "Compare with" }), "Cycle 1 of main");
    expect(await screen.findByText(/^Reinforcement: Reward.* dashed: Cycle 2 of main/)).toBeTruthy();
  });

  it("compares the two revisions task by task, and leads to their episodes side by side", async () => {
    const change = { suite: "lights", name: "two", level: 2, before: makeRate(3, 20), after: makeRate(17, 20), chance: 0.0001, adjusted: 0.0002, finding: "better" as const };
    open({ cycle: { ...OUT, compared: [change] } });
    const row = (await screen.findByText("lights/two · 2")).closest("tr");
    expect(row?.textContent).toContain("15%");
    expect(row?.textContent).toContain("85%");
    expect(row?.textContent).toContain("Better");
    const comparison = screen.getByRole("link", { name: "Episodes side by side" });
    expect(comparison.getAttribute("href")).toBe("/compare?left=toy+start&right=toy+main-0002");
  });

  it("says of weights what they come of, also where no trajectory is noted", async () => {
    const played = { ...MADE, id: 8, phase: "rl" as const, fresh: 0, revision: "" };
    const { user } = open({
      cycle: { ...OUT, checkpoints: [played] },
      made: { checkpoint: played, ancestors: [MADE], uses: [], next: null },
    });
    await user.click(await screen.findByRole("button", { name: "What Reinforcement was trained on" }));
    expect(await screen.findByText("Trained from Cycle 2 Imitation 0123456789ab")).toBeTruthy();
    expect(screen.getByText("No trajectory is recorded as its training data")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: /^Register .*Reinforcement/ }));
    expect(await violationsIn(await screen.findByRole("dialog", { name: /Reinforcement/ }))).toEqual([]);
  });

  it("says that nobody is heard who would take it, and claims nothing of what is still to come", async () => {
    const waiting: TurnRow = { ...CYCLE, state: "running", unheard: true, stages: [], revision: "", passed: null };
    open({ cycle: { ...OUT, row: waiting, checkpoints: [] } });
    expect(await screen.findByText(/This cycle waits until one is/)).toBeTruthy();
    expect(screen.getByText("no worker")).toBeTruthy();
    expect(screen.getAllByText(/Not trained yet/)).toHaveLength(2);
    expect(screen.queryByText(/Nothing was trained/)).toBeNull();
    expect(screen.queryByRole("columnheader", { name: "Stage" })).toBeNull();
  });

  it("says so in Chinese, and nothing of the kind while somebody is heard", async () => {
    open({ cycle: { ...OUT, row: { ...CYCLE, state: "running", unheard: true } }, language: "zh" });
    expect(await screen.findByText(/本轮会一直等到有这样的进程/)).toBeTruthy();
    cleanup();
    open({ cycle: { ...OUT, row: { ...CYCLE, state: "running" } }, language: "zh" });
    expect(await screen.findByText("进行中")).toBeTruthy();
    expect(screen.queryByText(/本轮会一直等到有这样的进程/)).toBeNull();
  });

  it("shows what a stage failed of, and goes on", async () => {
    const failed: TurnRow = { ...CYCLE, state: "failed", stages: [stage("train", { state: "failed", code: "program_failed", error: "no disk" })] };
    const { sent, user } = open({ cycle: { ...OUT, row: failed } });
    expect(await screen.findByText("program_failed: no disk")).toBeTruthy();
    await user.click(screen.getByRole("button", { name: "Resume cycle 2" }));
    await waitFor(() => expect(sent).toEqual(["POST /api/turns/turn-2/resume"]));
  });

  it("cannot resume a cycle that a later one followed", async () => {
    open({ cycle: { ...OUT, last: false, row: { ...CYCLE, state: "failed" } } });
    expect(await screen.findByText("failed")).toBeTruthy();
    expect(screen.queryByRole("button", { name: "Resume cycle 2" })).toBeNull();
  });
});

describe("what a trajectory taught", () => {
  const LINEAGE: TrajectoryLineage = {
    wheel: "main",
    turn: 2,
    turn_id: "turn-2",
    sample: SAMPLE,
    taught: [
      { checkpoint: MADE, wheel: "main", source: "fresh" },
      { checkpoint: { ...MADE, id: 8, phase: "rl", played: 1 }, wheel: "main", source: "played" },
      { checkpoint: { ...MADE, id: 9, turn: 3, revision: "toy main-0003" }, wheel: "main", source: "inherited" },
    ],
  };

  it("names the cycle, the route and its reason, and the weights trained on it", async () => {
    open({ lineage: [LINEAGE], role: "researcher" });
    expect((await screen.findByRole("link", { name: "Cycle 2 of main" })).getAttribute("href")).toBe("/flywheel/turn-2");
    expect(screen.getByText(/good enough to imitate · Value 1.00/)).toBeTruthy();
    const [own, played, later] = screen.getAllByRole("listitem");
    expect(own?.textContent).toContain("toy main-0002 learned from it");
    expect(played?.textContent).toMatch(/Reinforcement .* practised its kind of task/);
    expect(later?.textContent).toContain("toy main-0003 built on a revision that learned from it");
  });

  it("requests nothing for users who may not see flywheels", () => {
    const { sent } = open({ lineage: [LINEAGE], role: "annotator" });
    expect(sent).toEqual([]);
    expect(screen.queryByText("Used in training")).toBeNull();
  });
});
