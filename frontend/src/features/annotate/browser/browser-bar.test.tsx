/** A person in a browser's workspace: addresses, pages, and the page's own time. */
import { screen, within } from "@testing-library/react";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { BrowserPage, EpisodeState } from "@/generated/vocabulary";
import { renderWorkspace } from "@/features/annotate/testing/harness";
import { OBSERVATION } from "@/features/annotate/testing/fixtures";

const CAPABILITIES = ["click", "wait", "navigate", "navigate_back", "switch_page", "close_page"];
const PAGE: BrowserPage = {
  title: "2048",
  clock: "exact",
  seed: 7,
  time_ms: 3_400,
  pace: 0,
  score: 12.3456,
  level: 2,
  done: false,
  truncated: false,
  success: null,
  verifier_error: null,
  description: null,
  chooser: null,
  tabs: [{ id: "page-1", title: "2048", url: "http://game.test/", active: true }],
  events: [],
};
const HELP = { id: "page-2", title: "Help", url: "http://game.test/help", active: false };

const open = (page: Partial<BrowserPage> = {}, changed: Partial<EpisodeState> = {}) =>
  renderWorkspace({
    thought_required: false,
    capabilities: CAPABILITIES,
    observation: { ...OBSERVATION, url: "http://game.test/", page: { ...PAGE, ...page } },
    ...changed,
  });

const bar = () => within(screen.getByRole("region", { name: "The browser's address, pages and time" }));

afterEach(() => vi.unstubAllGlobals());

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

describe("a browser's workspace", () => {
  it("shows where the page is, how it stands and which time it has", () => {
    open();
    expect(bar().getByRole<HTMLInputElement>("textbox", { name: "Address" }).value).toBe("http://game.test/");
    expect(bar().getByText("Score 12.35")).toBeDefined();
    expect(bar().getByText("Level 2")).toBeDefined();
    expect(bar().getByText("paused between steps")).toBeDefined();
  });

  it("is not there for a machine that is no browser", () => {
    renderWorkspace();
    expect(screen.queryByRole("region", { name: "The browser's address, pages and time" })).toBeNull();
  });

  it("opens what was typed, and forgets it with Escape", async () => {
    const { user, commands } = open();
    await user.keyboard(";");
    await user.keyboard("http://other.test/{Escape}");
    expect(bar().getByRole<HTMLInputElement>("textbox", { name: "Address" }).value).toBe("http://game.test/");
    await user.keyboard(";http://shop.test/a{Enter}");
    expect(commands()).toMatchObject([{ type: "act", action: { kind: "navigate", url: "http://shop.test/a" } }]);
  });

  it("goes back, and lets time pass, as steps", async () => {
    const { user, commands } = open();
    await user.keyboard(",.");
    expect(commands()).toMatchObject([
      { type: "act", action: { kind: "navigate_back" } },
      { type: "act", action: { kind: "wait", seconds: 0.5 } },
    ]);
  });

  it("waits as long as was chosen", async () => {
    const { user, commands } = open();
    await user.selectOptions(screen.getByLabelText("How long a wait is"), "2000");
    await user.click(bar().getByRole("button", { name: /^Wait/ }));
    expect(commands()).toMatchObject([{ action: { kind: "wait", seconds: 2 } }]);
  });

  it("switches between pages and closes them, as steps", async () => {
    const { user, commands } = open({ tabs: [...PAGE.tabs, HELP] });
    await user.keyboard(">");
    await user.click(bar().getByRole("button", { name: "Close the page Help" }));
    await user.keyboard("{Delete}");
    expect(commands()).toMatchObject([
      { action: { kind: "switch_page", page: "page-2" } },
      { action: { kind: "close_page", page: "page-2" } },
      { action: { kind: "close_page", page: null } },
    ]);
  });

  it("lets the page's time go on and stops it, which is no step", async () => {
    const { user, commands, say } = open();
    await user.keyboard("=");
    expect(commands()).toMatchObject([{ type: "pace", rate: 1 }]);
    const observation = { ...OBSERVATION, page: { ...PAGE, pace: 1 } };
    say({ type: "episode.changed", ...UNCHANGED, version: 5, observation });
    expect(bar().getByText("running")).toBeDefined();
    await user.keyboard("=");
    expect(commands().at(-1)).toMatchObject({ type: "pace", rate: 0 });
  });

  it("has no pace where the page lives in real time", async () => {
    const { user, commands } = open({ clock: "real" });
    await user.keyboard("=");
    expect(commands()).toEqual([]);
    expect(bar().queryByRole("radiogroup", { name: "Pace" })).toBeNull();
  });

  it("makes a new address for each program", async () => {
    let made = 0;
    vi.stubGlobal("fetch", (url: string, init: RequestInit) => {
      expect([url, init.method, init.body]).toEqual(["/api/episodes/episode-1/tickets", "POST", '{"kind":"cdp"}']);
      made += 1;
      return Promise.resolve(Response.json({ ticket: "t", url: `ws://bridge.test/cdp?token=${made}`, expires_in: 300, ice_servers: [] }));
    });
    const { user, commands } = open();
    await user.keyboard("{Shift>}B{/Shift}");
    const dialog = within(await screen.findByRole("dialog"));
    await user.click(dialog.getByRole("button", { name: "Make an address" }));
    expect(await dialog.findByText("ws://bridge.test/cdp?token=1")).toBeDefined();
    expect(dialog.getByText(/expires in 5 minutes/)).toBeDefined();
    await user.click(dialog.getByRole("button", { name: "Make another address" }));
    expect(await dialog.findByText('browser = playwright.chromium.connect_over_cdp("ws://bridge.test/cdp?token=2")')).toBeDefined();
    expect(commands()).toEqual([]);
  });

  it("tells what the browser did by itself, and that the page has ended", () => {
    open({ done: true, success: false, events: [{ kind: "popup_refused", text: "http://ads.test/ wanted a page" }] });
    expect(screen.getByText("New page refused")).toBeDefined();
    expect(screen.getByText("http://ads.test/ wanted a page")).toBeDefined();
    expect(bar().getByText("Ended: not solved")).toBeDefined();
    expect(screen.getByText(/The page says that the task has ended/)).toBeDefined();
  });
});

const UNCHANGED = {
  status: null,
  branch_of: null,
  observation: null,
  capabilities: null,
  tools: null,
  can_undo: null,
  undo_blocked: null,
  memories: null,
  autopilot: null,
  takeover: null,
  help_requested: null,
  secret_requests: null,
  secrets_confirmed: null,
  outcome: null,
  answer: null,
  verdict: null,
  lease_expires_at: null,
  error: null,
  finished_at: null,
} as const;
