/** The pools page: people put into pools by keys, what differs is sent, a changed pool is said, files looked at first. */
import { MantineProvider } from "@mantine/core";
import { cleanNotifications, Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { fireEvent, render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Board, PoolRow, RefillPage } from "@/generated/api";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { Markdown } from "@/shared/ui/markdown";
import { TopBarProvider } from "@/shared/ui/top-bar";

import PoolsPage from "./pools-page";
import { changesOf } from "./settings";
import { kindOf } from "./upload-form";

const POOL: PoolRow = {
  id: 7,
  version: 3,
  settings: {
    name: "Office",
    description: "Errands",
    instructions: "",
    platform: "desktop",
    image: "desktop",
    candidates: 3,
    max_steps: 100,
    minutes: null,
    thought_required: true,
    thought_later: false,
    text_continuation: true,
    policy_budget: null,
    unattended_safety_checks: false,
    screenshot_format: "jpeg",
    record: false,
    speculation: false,
    takes_recordings: false,
    practice: false,
    paused: false,
    lease_minutes: 30,
    pause_hours: 8,
    overlap: 2,
    gold_percent: 0,
    review_mode: "all",
    review_percent: 10,
    reviewers: 1,
    priority: 0,
    hours: null,
    consent: "",
    open_to_all: false,
    skills: [],
  },
  policy: "nano 1",
  tasks: { waiting: 4, claimed: 1, done: 2, broken: 0, withdrawn: 0, gold: 0 },
  open_episodes: 1,
  policy_spent: 0,
  stopped_at: null,
  stop_reason: "",
  opens_at: null,
  credentials: [],
  credential_rules: [],
  mcp_servers: [],
  members: [],
  groups: [],
};
const BOARD: Board = {
  pools: [POOL],
  people: [{ id: 1, username: "ada", name: "Ada", skills: ["vim"], groups: [] }],
  groups: [{ id: 2, name: "Team", size: 3 }],
  missing_suites: [],
};

type Sent = { method: string; path: string; body: unknown };

function visibleText(answers: Record<string, { status?: number; body: unknown }> = {}, language: Language = "en") {
  const sent: Sent[] = [];
  vi.stubGlobal(
    "fetch",
    vi.fn((path: string, init: RequestInit) => {
      const method = init.method ?? "GET";
      if (method !== "GET") sent.push({ method, path, body: typeof init.body === "string" ? JSON.parse(init.body) : init.body });
      const { status = 200, body } = answers[`${method} ${path}`] ?? { body: method === "GET" ? BOARD : {} };
      return Promise.resolve(new Response(JSON.stringify(body), { status }));
    }),
  );
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
        <I18nProvider language={language}>
          <Notifications />
          <MemoryRouter>
            <TopBarProvider>
              <PoolsPage />
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { user: userEvent.setup(), sent };
}

afterEach(() => {
  cleanNotifications();
  vi.unstubAllGlobals();
});

describe("the pools page", () => {
  it("puts somebody into a pool by keys", async () => {
    const { user, sent } = visibleText();
    (await screen.findByRole("button", { name: "Pools of Ada" })).focus();
    await user.keyboard("{Enter}");
    const item = await screen.findByRole("menuitemcheckbox", { name: "Office" });
    expect(item.getAttribute("aria-checked")).toBe("false");
    item.focus();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(sent).toEqual([{ method: "POST", path: "/api/pools/7/people/1", body: null }]));
  });

  it("shows some of many people, and finds the others by name", async () => {
    const people = Array.from({ length: 200 }, (_, id) => ({ id, username: `p${id}`, name: `Person ${id}`, skills: [], groups: [] }));
    const { user } = visibleText({ "GET /api/pools/board": { body: { ...BOARD, people, groups: [], missing_suites: [{ pool: 7, pool_name: "Office", name: "gone", tasks: 2 }] } } });
    expect(await screen.findAllByRole("button", { name: /^Pools of Person/ })).toHaveLength(40);
    expect(screen.getByText("160 more: search for them")).toBeTruthy();
    expect(screen.getByText(/^2 waiting tasks cannot begin: this version does not have gone\./)).toBeTruthy();
    await user.type(screen.getByRole("searchbox", { name: "Find people by name or skill" }), "person 199");
    expect(screen.getAllByRole("button", { name: /^Pools of Person/ })).toHaveLength(1);
    expect(screen.getByRole("button", { name: "Pools of Person 199" })).toBeTruthy();
  });

  it("sends what differs with the version that was seen, and says what somebody else changed", async () => {
    const conflict = { code: "pool_changed", message: "Office was changed by blair meanwhile.", extra: { changed: { priority: [0, 7] } } };
    const { user, sent } = visibleText({ "PATCH /api/pools": { status: 409, body: conflict } });
    await user.click(await screen.findByRole("button", { name: "Edit Office" }));
    const dialog = await screen.findByRole("dialog");
    await user.click(within(dialog).getByRole("checkbox", { name: "Paused: no task is given out" }));
    await user.click(within(dialog).getByRole("button", { name: "Save" }));
    expect((await within(dialog).findByRole("alert")).textContent).toContain("priority");
    expect(sent[0]?.body).toEqual({ pools: [{ id: 7, version: 3 }], changes: { paused: true } });
  });

  it("gives several pools what was touched, says in what they differ, and each what it had by an undo", async () => {
    const other: PoolRow = { ...POOL, id: 8, version: 5, settings: { ...POOL.settings, name: "Phones", max_steps: 30 } };
    const { user, sent } = visibleText({ "GET /api/pools/board": { body: { ...BOARD, pools: [POOL, other] } } });
    await user.click(await screen.findByRole("checkbox", { name: "Choose Office" }));
    await user.click(screen.getByRole("button", { name: "All" }));
    await user.click(screen.getByRole("button", { name: "Settings…" }));
    const dialog = await screen.findByRole("dialog", { name: "Settings of 2 pools" });
    expect(dialog.textContent).toContain("They differ in: Most steps.");
    const steps = within(dialog).getByRole("textbox", { name: "Most steps" });
    fireEvent.change(steps, { target: { value: "55" } });
    await user.click(within(dialog).getByRole("button", { name: "Save" }));
    await user.click(await screen.findByRole("button", { name: /^Undo/ }));
    const versions = [{ id: 7, version: 3 }, { id: 8, version: 5 }];
    await waitFor(() =>
      expect(sent.map(({ body }) => body)).toEqual([
        { pools: versions, changes: { max_steps: 55 } },
        { pools: [{ id: 7, version: 4 }], changes: { max_steps: 100 } },
        { pools: [{ id: 8, version: 6 }], changes: { max_steps: 30 } },
      ]),
    );
  });

  it("asks why before a pool is stopped", async () => {
    const { user, sent } = visibleText();
    await user.click(await screen.findByRole("button", { name: "Stop Office" }));
    const dialog = await screen.findByRole("dialog");
    await user.type(within(dialog).getByRole("textbox"), "wrong");
    await user.click(within(dialog).getByRole("button", { name: "Stop…" }));
    await waitFor(() => expect(sent[0]).toEqual({ method: "POST", path: "/api/pools/7/stop", body: { reason: "wrong" } }));
  });

  it("shows what a pool would be refilled with, saves its rule, and adds tasks now until it is done", async () => {
    const counts = { accepted: 2, overridden: 8, succeeded: 1, failed: 5 };
    const page: RefillPage = {
      settings: { active: false, per_day: 50, waiting_per_kind: 5, need_at_least: 0.5 },
      added_in_24_hours: 2,
      pending: false,
      looked_at: null,
      error: "",
      reachable: true,
      planned: [{ kind: { suite: "drills", name: "form", level: 2 }, count: 3, need: 0.84, reason: "fails", counts }],
      kinds: [{ kind: "drills/form", made: 9, added: 8, done: 7, solved: 6 }],
      entries: [],
    };
    const { user, sent } = visibleText({
      "GET /api/pools/7/refill": { body: page },
      "POST /api/pools/7/refill": { body: { ...page, settings: { ...page.settings, active: true } } },
      "POST /api/pools/7/refill/now": { body: { ...page, pending: true } },
    });
    await user.click(await screen.findByRole("button", { name: "Refill of Office" }));
    const dialog = await screen.findByRole("dialog", { name: "Refill of Office" });
    expect(await within(dialog).findByText("drills/form, level 2")).toBeTruthy();
    expect(dialog.textContent).toContain("Overridden 8 times, failed 5 of its own attempts");
    expect(within(dialog).getByRole("row", { name: /drills\/form 9 8 7 6/ })).toBeTruthy();
    await user.click(within(dialog).getByRole("switch"));
    await user.click(within(dialog).getByRole("button", { name: "Save" }));
    await waitFor(() => expect(sent[0]).toEqual({ method: "POST", path: "/api/pools/7/refill", body: { ...page.settings, active: true } }));
    await user.click(within(dialog).getByRole("button", { name: "Add 3 tasks now" }));
    await waitFor(() => expect(sent[1]?.path).toBe("/api/pools/7/refill/now"));
  });

  it("keeps what a secret is bound to where its name is typed for a new value", async () => {
    const rule = { name: "SHOP", kinds: ["navigate"], hosts: ["shop.test"], applications: [], confirm: false } as const;
    const { user, sent } = visibleText({ "GET /api/pools/board": { body: { ...BOARD, pools: [{ ...POOL, credentials: ["SHOP"], credential_rules: [rule] }] } } });
    await user.click(await screen.findByRole("button", { name: "Secrets of Office" }));
    const dialog = await screen.findByRole("dialog");
    await user.type(within(dialog).getByRole("textbox", { name: "Name" }), "shop");
    await user.type(within(dialog).getByLabelText("Value"), "hunter2");
    await user.click(within(dialog).getByRole("button", { name: "Save" }));
    const { name, ...bound } = rule;
    await waitFor(() => expect(sent).toEqual([{ method: "POST", path: `/api/pools/7/credentials/${name}`, body: { value: "hunter2", ...bound } }]));
  });

  it("adds an MCP server that was tried, names the field that is wrong, and edits and deletes one", async () => {
    const calc = { name: "calc", server: { transport: "http", url: "https://old.test/mcp", headers: {} } } as const;
    const message = "Keep the value as a secret of the pool, and write secret:NAME here.";
    const refusal = { code: "secret_needed", message, extra: { fields: [{ field: "headers.Authorization", message }] } };
    const { user, sent } = visibleText({
      "GET /api/pools/board": { body: { ...BOARD, pools: [{ ...POOL, mcp_servers: [calc] }] } },
      "POST /api/pools/7/mcp-servers/notes/trial": { body: { outcome: "works", tools: [{ name: "add", description: "Adds a note" }], reason: "" } },
      "POST /api/pools/7/mcp-servers/calc": { status: 422, body: refusal },
    });
    await user.click(await screen.findByRole("button", { name: "MCP servers of Office" }));
    const dialog = await screen.findByRole("dialog");
    const field = (name: string) => within(dialog).getByRole("textbox", { name });
    await user.type(field("Name"), "notes");
    await user.type(field("Command"), "python3");
    fireEvent.change(field("Arguments"), { target: { value: "-m\nnotes\n" } });
    await user.click(within(dialog).getByRole("button", { name: "Try it" }));
    expect((await within(dialog).findByText("Adds a note", { exact: false })).textContent).toContain("add");
    await user.click(within(dialog).getByRole("button", { name: "Add" }));
    const stdio = { server: { transport: "stdio", command: "python3", args: ["-m", "notes"], env: {} } };
    await waitFor(() => expect(sent.map(({ path, body }) => [path, body])).toEqual([
      ["/api/pools/7/mcp-servers/notes/trial", stdio],
      ["/api/pools/7/mcp-servers/notes", stdio],
    ]));

    await user.click(within(dialog).getByRole("button", { name: "Edit calc" }));
    await user.click(within(dialog).getByRole("button", { name: "Add a value" }));
    await user.type(field("Name 1"), "Authorization");
    await user.type(field("Value 1"), "Bearer abc");
    await user.click(within(dialog).getByRole("button", { name: "Save" }));
    expect((await within(dialog).findByRole("alert")).textContent).toBe(message);
    expect(field("Value 1").getAttribute("aria-invalid")).toBe("true");
    await user.click(within(dialog).getByRole("button", { name: "Delete calc" }));
    await user.click(await screen.findByRole("button", { name: "Delete" }));
    await waitFor(() => expect(sent.at(-1)).toEqual({ method: "DELETE", path: "/api/pools/7/mcp-servers/calc", body: null }));
  });

  it("ends the trial of an MCP server when its form changes or closes", async () => {
    const { user } = visibleText();
    const signals: (AbortSignal | null | undefined)[] = [];
    await user.click(await screen.findByRole("button", { name: "MCP servers of Office" }));
    const dialog = within(await screen.findByRole("dialog"));
    await user.type(dialog.getByRole("textbox", { name: "Name" }), "notes");
    await user.type(dialog.getByRole("textbox", { name: "Command" }), "python3");
    vi.stubGlobal("fetch", (_: string, { signal }: RequestInit) => {
      signals.push(signal);
      return new Promise(() => undefined);
    });
    await user.click(dialog.getByRole("button", { name: "Try it" }));
    await user.type(dialog.getByRole("textbox", { name: "Command" }), "3");
    await user.click(dialog.getByRole("button", { name: "Try it" }));
    expect(signals.map((signal) => signal?.aborted)).toEqual([true, false]);
    await user.keyboard("{Escape}");
    await waitFor(() => expect(signals.map((signal) => signal?.aborted)).toEqual([true, true]));
  });

  it("speaks Chinese", async () => {
    visibleText({}, "zh");
    expect(await screen.findByRole("button", { name: "停止 Office" })).toBeTruthy();
  });
});

describe("small rules", () => {
  it("finds what differs", () => {
    expect(changesOf(POOL.settings, { ...POOL.settings, skills: ["vim"], priority: 0 })).toEqual({ skills: ["vim"] });
  });

  it("knows files by their names", () => {
    expect(["a.CSV", "b.jsonl", "c.json", "d.xlsx", "e.zip"].map(kindOf)).toEqual(["csv", "jsonl", "osworld", "xlsx", "harbor"]);
  });

  it("shows markdown without its HTML, scripts or pictures", () => {
    const text = "# Head\n\n<img src=x onerror=alert(1)><script>alert(1)</script>\n\n[a](javascript:alert(1)) ![p](http://evil/p.png) **bold**";
    const { container } = render(<Markdown text={text} />);
    expect(container.querySelector("script, img, [onerror], a[href^=javascript]")).toBeNull();
    expect(container.querySelector("strong")?.textContent).toBe("bold");
    expect(container.querySelector("h3")?.textContent).toBe("Head");
  });
});
