/** The gate's attempts: a task's, seed by seed, opened by keys; two side by side, in step with each other. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { SeedTrials, TaskChange, TrialComparison } from "@/generated/api";
import type { Observation, Step } from "@/generated/vocabulary";
import { comparisonCommands } from "@/shared/comparison/commands";
import { CommandsProvider } from "@/shared/commands/commands";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";

import TrialComparisonPage from "./comparison-page";
import { TaskChanges } from "@/features/flywheel/task-changes";
import { makeRate } from "@/shared/testing/rates";

const CHANGE: TaskChange = { suite: "toy", name: "lights", level: 1, before: makeRate(3, 20), after: makeRate(17, 20), chance: 0, adjusted: 0, finding: "better" };
const trial = (place: number, solved: boolean) => ({ place, solved, outcome: solved ? ("success" as const) : ("failure" as const), steps: 2 });
const ROWS: SeedTrials[] = [
  { seed: 905, active: trial(5, false), candidate: trial(6, true) },
  { seed: 901, active: trial(1, true), candidate: trial(1, true) },
  { seed: 909, active: null, candidate: trial(9, true) },
];
const observe = (name: string): Observation =>
  ({ screenshot: { sha256: name, media_type: "image/png", size: 1 }, width: 56, height: 56, text: null }) as unknown as Observation;
const step = (index: number, x: number, side: string): Step =>
  ({
    index,
    command_id: `${side}${index}`,
    action: { kind: "click", x, y: 10 },
    thought: `${side} thinks ${index}`,
    before: observe(`${side}-${index}`),
    after: observe(`${side}-${index + 1}`),
    error: null,
    undone: false,
  }) as unknown as Step;
const COMPARISON: TrialComparison = {
  kind: "toy/lights",
  seed: 905,
  instruction: "Point",
  active: { steps: [step(0, 10, "a"), step(1, 10, "a")], outcome: "failure", verdict: { success: false, score: 0, reason: "", verifier: "", version: "", points: null, error: "" } },
  candidate: { steps: [step(0, 10, "c"), step(1, 40, "c"), step(2, 40, "c")], outcome: "success", verdict: { success: true, score: 1, reason: "", verifier: "", version: "", points: null, error: "" } },
  pairs: [
    { one: 0, other: 0, same: true },
    { one: 1, other: 1, same: false },
    { one: null, other: 2, same: false },
  ],
  divergence: 1,
  agreement: 0.4,
};
const CYCLE = { row: { id: "t", number: 2, state: "done", active: "toy start", revision: "toy main-0002" } };

function open(at: string, refusal?: { code: string; message: string }, language: Language = "en") {
  vi.stubGlobal("fetch", (path: string) => {
    if (refusal && path.includes("/trials")) return Promise.resolve(Response.json({ ...refusal, extra: {} }, { status: 404 }));
    return Promise.resolve(Response.json(path.includes("/trials/beside") ? COMPARISON : path.includes("/trials") ? ROWS : CYCLE));
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  render(
    <QueryClientProvider client={client}>
      <MantineProvider>
        <I18nProvider language={language}>
          <MemoryRouter initialEntries={[at]}>
            <CommandsProvider all={Object.values(comparisonCommands)} keyMap={{}}>
              <TopBarProvider>
                {at.includes("beside") ? <TrialComparisonPage cycleId="t" /> : <TaskChanges cycle="t" changes={[CHANGE]} before="toy start" after="toy main-0002" />}
              </TopBarProvider>
            </CommandsProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

afterEach(() => vi.unstubAllGlobals());

describe("a task of the gate", () => {
  it("opens by the keyboard to its attempts, as the server orders them", async () => {
    const user = open("/flywheel/t");
    await user.tab();
    expect(document.activeElement?.getAttribute("aria-label")).toBe("Attempts at toy/lights");
    await user.keyboard("{Enter}");
    const table = await screen.findByRole("table", { name: "Attempts by seed" });
    const rows = within(table).getAllByRole("row").slice(1);
    expect(rows.map((row) => row.textContent)).toEqual([
      "905not solved 2 stepssolved 2 stepsonly the candidate",
      "901solved 2 stepssolved 2 stepsboth",
      "909not triedsolved 2 stepsonly the candidate",
    ]);
    const links = within(table).getAllByRole("link");
    expect(links.map((link) => link.getAttribute("href"))).toEqual([
      "/flywheel/t/beside?active=5&candidate=6",
      "/flywheel/t/beside?active=1&candidate=1",
    ]);
    await user.tab();
    expect(document.activeElement).toBe(links[0]);
  });

  it("says by its code that the attempts are gone", async () => {
    const user = open("/flywheel/t", { code: "trials_gone", message: "They are no longer there." });
    await user.click(screen.getByRole("button", { name: "Attempts at toy/lights" }));
    expect((await screen.findByRole("alert")).textContent).toContain("They are no longer there.Code: trials_gone");
  });
});

describe("two attempts side by side", () => {
  const side = (name: string) => within(screen.getByRole("region", { name }));
  const pictures = () => ["Left: toy start", "Right: toy main-0002"].map((name) => side(name).getByRole("img", { name: /screen|step/i }).getAttribute("src")?.split("/").at(-1));

  it("begins where they part, and steps both at once", async () => {
    const user = open("/flywheel/t/beside?active=5&candidate=6");
    const rows = await screen.findByRole("navigation", { name: "Steps side by side" });
    const current = () => rows.querySelector("[aria-current=step]");
    expect(current()?.textContent).toMatch(/^2.*≠/);
    expect(within(rows).getByRole("img", { name: "They diverge here" }).closest("button")).toBe(current());
    expect(pictures()).toEqual(["a-1", "c-1"]);
    expect(side("Left: toy start").getByText("a thinks 1")).toBeTruthy();
    expect(side("Left: toy start").getByRole("img", { name: /step/i }).getAttribute("src")).toBe("/api/turns/t/trials/active/5/pictures/a-1");
    await user.keyboard("{ArrowRight}");
    expect(pictures()).toEqual(["a-2", "c-2"]);
    expect(side("Left: toy start").getByText("It took no action here.")).toBeTruthy();
    await user.keyboard("a");
    expect(pictures()).toEqual(["a-2", "c-3"]);
    await user.keyboard("a{ArrowLeft}{ArrowLeft}");
    expect(pictures()).toEqual(["a-0", "c-0"]);
    await user.keyboard("d");
    expect(pictures()).toEqual(["a-1", "c-1"]);
  });

  it("speaks Chinese", async () => {
    open("/flywheel/t/beside?active=5&candidate=6", undefined, "zh");
    expect(await screen.findByText("从第 2 行开始不同。")).toBeTruthy();
    expect(screen.getByText("候选")).toBeTruthy();
  });
});
