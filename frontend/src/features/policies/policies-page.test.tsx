/** The policies page: what it shows, what it says before a change, and that it works with keys alone in both languages. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import axe from "axe-core";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { PoolPolicies, RevisionSummary, BranchCandidate } from "@/generated/api";
import { sessionQuery } from "@/shared/account/account";
import { I18nProvider, i18nFor, type Language } from "@/shared/i18n/i18n";
import { reasonText } from "@/shared/ui/gate-reason";
import { TopBarProvider } from "@/shared/ui/top-bar";
import { makeRate } from "@/shared/testing/rates";

import { wishOf } from "./change-dialog";
import PoliciesPage from "./policies-page";
import { objectOf } from "./settings-fields";

const AT = "2026-01-01T10:00:00Z";
const rate = (successes: number, attempts: number) => makeRate(successes, attempts, 0.2, 0.9);
const revision = (id: number, changed: Partial<RevisionSummary> = {}): RevisionSummary => ({
  id,
  policy: { name: "tars", revision: String(id), dialect: "ui_tars_1_5", scripted: false, teacher: false },
  base_url: "http://127.0.0.1:8000/v1",
  model: "tars",
  checkpoint: "",
  weight_version: "r1",
  sampling: { temperature: 0.7 },
  memory: {},
  prompt: null,
  provider: "openai_compatible",
  provider_settings: {},
  key_hint: null,
  created_at: AT,
  retired: false,
  active_in: [],
  tried_in: [],
  rates: [],
  evaluations: [],
  ...changed,
});
const OLD = revision(1, { active_in: ["Games"], rates: [{ pool: "Games", accepted: rate(3, 4), succeeded: null }] });
const NEW = revision(2, {
  evaluations: [
    {
      id: 1,
      sha256: "ab".repeat(32),
      created_at: AT,
      attempts: 12,
      suites: [{ suite: "games", successes: rate(5, 12) }],
      compared: "chance",
      decisions: [
        {
          pool: "Games",
          passed: false,
          promoted: false,
          against: OLD.policy,
          reasons: [{ code: "success_too_low", subject: "", found: 0.42, wanted: 0.8 }],
          created_at: AT,
        },
      ],
    },
  ],
});
const SCRIPTS = revision(3, { base_url: "http://machine.invalid/expert" });
const POOL: PoolPolicies = {
  id: 7,
  name: "Games",
  active: 1,
  canary: null,
  canary_share: 0,
  gate: { over: ["games"], attempts: 5, success: 0.8, no_regression: true, improvement: "significant", promote: "automatically" },
  sampling: "in_order",
  open_episodes: 3,
};
const STATE: BranchCandidate = {
  episode: "00000000-0000-0000-0000-000000000001",
  step: 4,
  reason: "overridden",
  weight: 0.75,
  task: 9,
  kind: "games/snake",
  waiting: false,
  done: true,
};

type World = { server?: unknown; revisions?: RevisionSummary[]; pools?: PoolPolicies[]; states?: BranchCandidate[]; refuse?: unknown; role?: string };
type Sent = { path: string; body: unknown };

function open({ revisions = [NEW, OLD, SCRIPTS], pools = [POOL], states = [STATE], refuse, server = { state: "ok", problem: null, detail: "" }, role = "admin" }: World = {}, language: Language = "en") {
  const sent: Sent[] = [];
  const answers: Record<string, unknown> = { "/policies": revisions, "/policies/pools": pools, "/pools/7/states": states };
  answers["/policies/dialects"] = [{ name: "ui_tars_1_5", reply: "Thought: Go.\nAction: click(…)", absolute: true }];
  answers["/probes"] = [];
  answers["/health/models/2"] = server;
  answers["/policies/prompts/ui_tars_1_5"] = { prompt: "Own words: {instruction}", task: "" };
  answers["/first-replies"] = [{ policy: NEW.policy, replies: 12, misplaced: 7, suspicious: true }];
  vi.stubGlobal("fetch", (url: string, { method, body }: RequestInit) => {
    const path = url.replace(/^\/api/, "");
    if (method !== "GET") sent.push({ path, body: typeof body === "string" ? JSON.parse(body) : null });
    const refused = refuse !== undefined && method !== "GET";
    return Promise.resolve(new Response(JSON.stringify(refused ? refuse : (answers[path] ?? {})), { status: refused ? 422 : 200 }));
  });
  const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
  client.setQueryData(sessionQuery.queryKey, { user: { id: 1, username: "root", name: "Root", roles: [role], preferences: {} } } as never);
  const { container } = render(
    <QueryClientProvider client={client}>
      <MantineProvider env="test">
        <I18nProvider language={language}>
          <MemoryRouter>
            <TopBarProvider>
              <PoliciesPage />
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { user: userEvent.setup(), sent, container };
}

const dialog = async (name: string | RegExp) => within(await screen.findByRole("dialog", { name }));
const button = (name: string) => screen.findByRole("button", { name });

afterEach(() => vi.unstubAllGlobals());

describe("the policies page", () => {
  it("says where the first replies look like another coordinate space", async () => {
    open();
    expect(await screen.findByText(/7 of the first 12 replies name points off the screen/)).toBeDefined();
  });

  it("shows who proposes where, behind which gate, and how people take it", async () => {
    open();
    expect(await screen.findByText("Active in Games")).toBeDefined();
    expect(screen.getByText("20%–90%, 3 of 4")).toBeDefined();
    expect(screen.getByText("Promoted automatically")).toBeDefined();
    expect(screen.getByText("The tasks' own scripts")).toBeDefined();
    expect(screen.getByText("5 attempts a task · success 80% · nothing worse · better beyond chance · games")).toBeDefined();
  });

  it("tells why a gate stayed shut, by keys alone", async () => {
    const { user } = open();
    const details = await button("Details of tars 2");
    details.focus();
    await user.keyboard("{Enter}");
    expect(details.getAttribute("aria-expanded")).toBe("true");
    expect(screen.getByText("Kept out of Games")).toBeDefined();
    expect(screen.getByText("42% succeeded, not 80%")).toBeDefined();
    expect(screen.getByText("No measurable difference from the one before")).toBeDefined();
  });

  it("says what a change does to the episodes under way before it is made", async () => {
    const { user, sent } = open();
    await user.click(await button("Change who proposes in Games"));
    const change = await dialog("Who proposes in Games");
    expect(change.getByRole("status").textContent).toMatch(/^3 open episodes take it up at their next decision point/);
    expect(change.getByRole<HTMLButtonElement>("button", { name: "Change it" }).disabled).toBe(true);
    await user.selectOptions(change.getByLabelText("Revision"), "tars 2");
    await user.click(change.getByRole("button", { name: "Change it" }));
    await waitFor(() => expect(sent).toEqual([{ path: "/pools/7/policy", body: { revision: 2 } }]));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("puts a revision on trial in a share, and warns before where its server does not answer", async () => {
    const { user, sent } = open({ server: { state: "down", problem: "unreachable", detail: "ConnectError" } });
    await user.click(await button("Change who proposes in Games"));
    const change = await dialog("Who proposes in Games");
    await user.click(change.getByRole("radio", { name: "On trial" }));
    expect(change.getByRole("status").textContent).toMatch(/^About 10% of the episodes ask it/);
    expect(change.queryByRole("alert")).toBeNull();
    await user.selectOptions(change.getByLabelText("Revision"), "tars 2");
    expect((await change.findByRole("alert")).textContent).toMatch(/It does not answer\. \(ConnectError\)/);
    await user.click(change.getByRole("button", { name: "Change it" }));
    await waitFor(() => expect(sent).toEqual([{ path: "/pools/7/canary", body: { revision: 2, share: 10 } }]));
  });

  it("ends a trial, which is offered only where there is one", async () => {
    const { user, sent } = open({ pools: [{ ...POOL, canary: 2, canary_share: 10 }, { ...POOL, id: 8, name: "Other" }] });
    await user.click(await button("Change who proposes in Other"));
    expect((await dialog("Who proposes in Other")).queryByRole("radio", { name: "End the trial" })).toBeNull();
    await user.keyboard("{Escape}");
    await user.click(await button("Change who proposes in Games"));
    const change = await dialog("Who proposes in Games");
    await user.click(change.getByRole("radio", { name: "End the trial" }));
    expect(change.queryByLabelText("Revision")).toBeNull();
    await user.click(change.getByRole("button", { name: "Change it" }));
    await waitFor(() => expect(sent).toEqual([{ path: "/pools/7/canary", body: { revision: null, share: 0 } }]));
  });

  it("sets and takes away a gate", async () => {
    const { user, sent } = open();
    await user.click(await button("Set the gate of Games"));
    const gate = await dialog("What a report must show in Games");
    await user.type(gate.getByLabelText("Suites and tasks"), "\nsites/shop");
    await user.click(gate.getByRole("radio", { name: "By hand" }));
    await user.click(gate.getByRole("button", { name: "Save" }));
    const body = { gate: { ...POOL.gate, over: ["games", "sites/shop"], promote: "by_hand" } };
    await waitFor(() => expect(sent).toEqual([{ path: "/pools/7/gate", body }]));
    await user.click(await button("Set the gate of Games"));
    await user.click((await dialog("What a report must show in Games")).getByRole("switch", { name: "Reports are judged" }));
    await user.click(await button("Save"));
    await waitFor(() => expect(sent[1]).toEqual({ path: "/pools/7/gate", body: { gate: null } }));
  });

  it("has the next task chosen by need", async () => {
    const { user, sent } = open();
    await user.selectOptions(await screen.findByLabelText("How the next task of Games is chosen"), "By need");
    await waitFor(() => expect(sent).toEqual([{ path: "/pools/7/sampling", body: { sampling: "by_need" } }]));
  });

  it("lists where work is needed and opens a task again", async () => {
    const { user, sent } = open();
    await user.click(await button("Needed in Games"));
    const states = await dialog("Where Games needs work");
    const link = await states.findByRole("link", { name: "Step 5 of games/snake" });
    expect(link.getAttribute("href")).toBe(`/episodes/${STATE.episode}`);
    await user.click(states.getByRole("button", { name: "Reopen games/snake" }));
    await waitFor(() => expect(sent).toEqual([{ path: "/tasks/9/reopen", body: null }]));
    await user.click(states.getByRole("button", { name: "Have games/snake begun before step 5" }));
    await waitFor(() => expect(sent[1]).toEqual({ path: `/episodes/${STATE.episode}/branch`, body: { step: 4 } }));
  });

  it("registers a revision, and says which field the server refuses", async () => {
    const extra = { fields: [{ field: "base_url", message: "URL scheme should be 'http' or 'https'" }] };
    const { user, sent } = open({ refuse: { code: "invalid", message: "The request is not understood.", extra } });
    await user.click(await button("Register…"));
    const form = await dialog("Register a revision");
    for (const [label, text] of [["Policy", "tars"], ["Revision", "3"], ["Endpoint", "ftp://x"], ["Model", "m"]] as const) {
      await user.type(form.getByLabelText(new RegExp(`^${label}`)), text);
    }
    await user.type(form.getByLabelText(/^Actions a reply/), "{Backspace}4");
    await user.click(form.getByRole("button", { name: "Register" }));
    expect((await form.findByRole("alert")).textContent).toContain("base_url");
    expect(sent).toMatchObject([{ path: "/policies", body: { name: "tars", revision: "3", dialect: "ui_tars_1_5", sampling: { max_actions: 4 } } }]);
  });

  it("registers a prompt in place of the dialect's own, which it begins from", async () => {
    const { user, sent } = open();
    await user.click(await button("Register…"));
    const form = await dialog("Register a revision");
    for (const [label, text] of [["Policy", "tars"], ["Revision", "3"], ["Endpoint", "http://x"], ["Model", "m"]] as const) {
      await user.type(form.getByLabelText(new RegExp(`^${label}`)), text);
    }
    await user.click(form.getByRole("switch", { name: /Another prompt/ }));
    const prompt = form.getByRole<HTMLTextAreaElement>("textbox", { name: "Prompt" });
    expect(prompt.value).toBe("Own words: {instruction}");
    await user.clear(prompt);
    await user.paste("As its makers have it.");
    await user.type(form.getByRole("textbox", { name: "First message of the user" }), "{{instruction}");
    await user.click(form.getByRole("button", { name: "Register" }));
    const published = { prompt: "As its makers have it.", task: "{instruction}" };
    expect(sent).toMatchObject([{ path: "/policies", body: { name: "tars", prompt: published } }]);
  });

  it("edits where a revision is served, and nothing else of it", async () => {
    const { user, sent } = open();
    await user.click(await button("Change tars 2"));
    await user.click(await screen.findByRole("menuitem", { name: "Edit server and key…" }));
    const form = await dialog("Where tars 2 is served");
    expect(form.getByRole("button", { name: "Save" }).hasAttribute("disabled")).toBe(true);
    await user.clear(form.getByLabelText(/Model/));
    await user.type(form.getByLabelText(/Model/), "m3");
    await user.click(form.getByRole("button", { name: "Save" }));
    await waitFor(() => expect(sent).toEqual([{ path: "/policies/2", body: { model: "m3" } }]));
  });

  it("makes another revision from one, with sampling as a form or as JSON", async () => {
    const { user, sent } = open();
    await user.click(await button("Change tars 2"));
    await user.click(await screen.findByRole("menuitem", { name: "New revision from this…" }));
    const form = await dialog("Register a revision");
    expect(await form.findByText(/^Thought: Go/)).toBeDefined();
    await user.type(form.getByLabelText(/^Revision/), "3");
    const temperature = form.getByLabelText<HTMLInputElement>("Temperature");
    expect(temperature.value).toBe("0.7");
    await user.clear(temperature);
    await user.type(form.getByLabelText("Tokens of a reply"), "900");
    const [json] = form.getAllByRole<HTMLButtonElement>("button", { name: "Edit as JSON" });
    if (json) await user.click(json);
    expect(form.getByLabelText<HTMLTextAreaElement>("Sampling as JSON").value).toBe('{"max_tokens":900}');
    await user.click(form.getByRole("button", { name: "Register" }));
    await waitFor(() => expect(sent[0]?.body).toMatchObject({ name: "tars", revision: "3", sampling: { max_tokens: 900 }, memory: {} }));
  });

  it("retires a revision, and lists it last", async () => {
    const { user, sent } = open({ revisions: [revision(3, { retired: true }), NEW] });
    await user.click(await button("Change tars 2"));
    await user.click(await screen.findByRole("menuitem", { name: "Retire" }));
    await waitFor(() => expect(sent).toEqual([{ path: "/policies/2", body: { retired: true } }]));
    const names = screen.getAllByRole("button", { name: /^Details of/ }).map((each) => each.getAttribute("aria-label"));
    expect(names).toEqual(["Details of tars 2", "Details of tars 3"]);
  });

  it("lets researchers read, without controls", async () => {
    open({ role: "researcher" });
    expect(await screen.findByText("Active in Games")).toBeDefined();
    expect(screen.queryByRole("button", { name: /Change|Register|Gate/ })).toBeNull();
  });

  it("shows the prompt of a revision that has its own", async () => {
    const { user } = open({ revisions: [revision(3, { prompt: { prompt: "Theirs: {instruction}", task: "" } })] });
    await user.click(await button("Details of tars 3"));
    expect(screen.getByText("Prompt of its own, 21 characters")).toBeDefined();
    expect(screen.getByText("Theirs: {instruction}")).toBeDefined();
  });

  it("registers a hosted model with its key, prices and no address", async () => {
    const { user, sent } = open();
    await user.click(await button("Register…"));
    const form = await dialog("Register a revision");
    await user.selectOptions(form.getByLabelText("Provider"), "anthropic");
    expect(form.queryByLabelText("Dialect")).toBeNull();
    for (const [label, text] of [["Policy", "claude"], ["Revision", "1"], ["Model", "claude-opus-5-5"], ["API key", "secret-key"]] as const) {
      await user.type(form.getByLabelText(new RegExp(`^${label}`)), text);
    }
    await user.type(form.getByLabelText("Dollars for a million tokens read"), "5");
    expect(form.getByRole("alert").textContent).toContain("or neither");
    expect(form.getByRole<HTMLButtonElement>("button", { name: "Register" }).disabled).toBe(true);
    await user.type(form.getByLabelText("Dollars for a million tokens written"), "25");
    await user.click(form.getByRole("button", { name: "Register" }));
    expect(sent).toMatchObject([
      {
        path: "/policies",
        body: {
          ...{ name: "claude", provider: "anthropic", dialect: "anthropic", base_url: "", model: "claude-opus-5-5", api_key: "secret-key" },
          provider_settings: { prices: { input: 5, output: 25 } },
        },
      },
    ]);
  });

  it("speaks Chinese", async () => {
    open({}, "zh");
    expect(await screen.findByText("在 Games 启用")).toBeDefined();
    expect(screen.getByRole("button", { name: "登记…" })).toBeDefined();
  });

  it("says so where there is nothing", async () => {
    open({ revisions: [], pools: [] });
    expect(await screen.findByText("No revision is registered")).toBeDefined();
    expect(screen.getByText("There are no pools yet")).toBeDefined();
  });

  it("offers another try where the server fails", async () => {
    vi.stubGlobal("fetch", () => Promise.resolve(new Response("{}", { status: 500 })));
    const client = new QueryClient({ defaultOptions: { queries: { retry: false } } });
    render(
      <QueryClientProvider client={client}>
        <MantineProvider env="test">
          <MemoryRouter>
            <TopBarProvider>
              <PoliciesPage />
            </TopBarProvider>
          </MemoryRouter>
        </MantineProvider>
      </QueryClientProvider>,
    );
    expect(await screen.findByRole("button", { name: "Try again" })).toBeDefined();
  });

  it("keeps nobody from working, by axe's rules", async () => {
    const { user, container } = open();
    await user.click(await button("Details of tars 2"));
    const rules = { "color-contrast": { enabled: false }, region: { enabled: false } }; // jsdom draws nothing
    const page = await axe.run(container, { rules });
    await user.click(await button("Set the gate of Games"));
    const form = await axe.run(await screen.findByRole("dialog"), { rules });
    expect([...page.violations, ...form.violations].map(({ id, nodes }) => [id, nodes.map(({ html }) => html)])).toEqual([]);
  });
});

describe("a wish", () => {
  it("is none where nothing would change or a number is missing", () => {
    expect(wishOf("activate", POOL, 1, 10)).toBeNull();
    expect(wishOf("nobody", { ...POOL, active: null }, 1, 10)).toBeNull();
    expect(wishOf("try", POOL, 2, "")).toBeNull();
    expect(wishOf("try", POOL, 2, 0)).toBeNull();
    expect(wishOf("try", POOL, 1, 10)).toBeNull();
    expect(wishOf("end_trial", { ...POOL, canary: 2 }, 2, 10)).toEqual({ type: "try", pool: 7, revision: null, share: 0 });
  });
});

describe("texts", () => {
  it("are JSON objects or nothing", () => {
    expect([objectOf(""), objectOf('{"a": 1}'), objectOf("[1]"), objectOf("{")]).toEqual([{}, { a: 1 }, null, null]);
  });

  it("write attempts as numbers and rates in percent", () => {
    const few = { code: "too_few_attempts", subject: "games/snake", found: 3, wanted: 5 } as const;
    expect(reasonText(few, i18nFor("en"))).toBe("games/snake was attempted 3 times, not 5");
    expect(reasonText({ ...few, code: "worse_task", found: 0.1, wanted: 0.9 }, i18nFor("zh"))).toBe("games/snake 变差：90% 降至 10%");
  });
});
