/** The machines page: what hosts cannot bound is said in words, and its dialogs work with keys alone, in both languages. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { MemoryRouter } from "react-router";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { Fleet, FleetMachine, HostInfo, PreparedRequestCost } from "@/generated/api";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";

import { fleetQuery, preparedQuery } from "./api";
import MachinesPage from "./machines-page";

const AT = "2026-01-01T10:00:00Z";
const HOST: HostInfo = {
  id: "host-1",
  url: "http://host-1",
  images: ["browser"],
  capacity: 8,
  machines: 1,
  draining: false,
  last_seen: AT,
  unbounded: [],
  warnings: [],
  browser_built: null,
};
const MACHINE: FleetMachine = {
  id: "browser-1",
  kind: "browser",
  image: "browser",
  host: "host-1",
  state: "leased",
  since: AT,
  holder: "runner",
  user: "ada",
  pool: "pool",
  session: null,
  expires_at: AT,
  last_act: null,
  cpu_share: null,
  memory_bytes: null,
  watchable: true,
};

const PREPARED: PreparedRequestCost = {
  pool_id: 1,
  pool: "pool",
  day: "2026-01-01",
  made: 4,
  used: 3,
  discarded: 1,
  seconds: 6,
  discarded_seconds: 0.5,
  input_tokens: 5200,
  output_tokens: 90,
  discarded_input_tokens: 1300,
  discarded_output_tokens: 0,
  uncounted: 1,
};

function open(host: Partial<HostInfo> = {}, language: Language = "en", machine: Partial<FleetMachine> = {}, quotas: Fleet["quotas"] = []) {
  const fleet: Fleet = {
    at: AT,
    machines: [{ ...MACHINE, ...machine }],
    hosts: [{ ...HOST, ...host }],
    images: [],
    queue: [],
    quotas,
    missing: [],
    losses: [],
  };
  const client = new QueryClient({ defaultOptions: { queries: { staleTime: Infinity } } });
  client.setQueryData(fleetQuery.queryKey, fleet);
  client.setQueryData(preparedQuery.queryKey, [PREPARED, { ...PREPARED, pool_id: 2, pool: "phones", uncounted: 4 }]);
  vi.stubGlobal("fetch", () => new Promise(() => undefined));
  render(
    <QueryClientProvider client={client}>
      <MantineProvider>
        <I18nProvider language={language}>
          <MemoryRouter>
            <TopBarProvider>
              <MachinesPage />
            </TopBarProvider>
          </MemoryRouter>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

afterEach(() => vi.unstubAllGlobals());

describe("the machines page", () => {
  it("says in words what a host cannot bound", () => {
    open({ unbounded: ["memory", "walls"] });
    expect(screen.getByText(/Without a bound here: memory and what browsers reach/)).toBeDefined();
  });

  it("says nothing of bounds where all hold, and that they are unknown before there was a machine", () => {
    open();
    expect(screen.queryByText(/Without a bound/)).toBeNull();
    open({ unbounded: null });
    expect(screen.getByText(/known once it has made a machine/)).toBeDefined();
  });

  it("says which machine is the twin of an episode's, and what it costs", () => {
    open({}, "en", { holder: "twin:episode-7", user: null, cpu_share: 0.25 });
    expect(screen.getByText("Does an episode's next step ahead")).toBeDefined();
    expect(screen.getByText("One extra model request per step that is not accepted")).toBeDefined();
    expect(screen.getByRole("link", { name: "Episode" }).getAttribute("href")).toBe("/episodes/episode-7");
    expect(screen.getByText("25%")).toBeDefined();
  });

  it("says what prepared requests cost, and where their tokens were not counted", () => {
    open();
    const table = screen.getByRole("table", { name: "Prepared model requests" });
    const cells = within(table).getAllByRole("row").map((row) => within(row).queryAllByRole("cell").map((cell) => cell.textContent));
    expect(cells[1]?.slice(-7)).toEqual(["4", "3 (75%)", "1", "at least 5,200 in, 90 out", "at least 1,300 in, 0 out", "6 s", "500 ms"]);
    expect(cells[2]).toContain("–");
  });

  it("edits a limit at its row, and gives one to a user who is chosen", async () => {
    const sent: unknown[] = [];
    const user = open({}, "en", {}, [{ scope: "user", name: "ada", limit: 2, held: 1 }]);
    vi.stubGlobal("fetch", (path: string, { method = "GET", body }: RequestInit = {}) => {
      if (typeof body === "string") sent.push(JSON.parse(body));
      if (path.includes("/people")) return Promise.resolve(Response.json({ items: [{ username: "bob", name: "Bob" }], next: null }));
      const fleet: Fleet = { at: AT, machines: [], hosts: [], images: [], queue: [], quotas: [], missing: [], losses: [] };
      return Promise.resolve(method === "GET" ? Response.json(fleet) : new Response(null, { status: 204 }));
    });
    await user.click(screen.getByRole("button", { name: "Edit the limit of User ada" }));
    const limit = await screen.findByLabelText("Machines at once");
    await user.clear(limit);
    await user.type(limit, "5{Enter}");
    await vi.waitFor(() => expect(sent).toEqual([{ scope: "user", name: "ada", limit: 5 }]));
    await vi.waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
    await user.click(await screen.findByRole("button", { name: "Set a limit…" }));
    await user.click(await screen.findByRole("combobox", { name: "User" }));
    await user.click(await screen.findByRole("option", { name: "Bob (bob)", hidden: true }));
    await user.click(screen.getByRole("button", { name: "Set" }));
    await vi.waitFor(() => expect(sent[1]).toEqual({ scope: "user", name: "bob", limit: 2 }));
  });

  it("calls a browser a browser", () => {
    open();
    expect(screen.getByText("Browser · host-1")).toBeDefined();
  });
});

describe.each([
  ["en", "Take back browser-1", "Close"],
  ["en", "Watch browser-1", "Close"],
  ["en", "Set a limit…", "Close"],
  ["zh", "收回 browser-1", "关闭"],
  ["zh", "观看 browser-1", "关闭"],
  ["zh", "设置限制…", "关闭"],
] as const)("a dialog in %s, opened by %s", (language, opener, cross) => {
  it("has a named cross, keeps the focus within, and gives it back after Escape", async () => {
    const user = open({}, language);
    const button = screen.getByRole("button", { name: opener });
    button.focus();
    await user.keyboard("{Enter}");
    const dialog = await screen.findByRole("dialog");
    expect(within(dialog).getByRole("button", { name: cross })).toBeDefined();
    for (let presses = 0; presses < 8; presses++) {
      await user.tab();
      expect(dialog.contains(document.activeElement)).toBe(true);
    }
    await user.keyboard("{Escape}");
    expect(screen.queryByRole("dialog")).toBeNull();
    await vi.waitFor(() => expect(document.activeElement).toBe(button));
  });
});
