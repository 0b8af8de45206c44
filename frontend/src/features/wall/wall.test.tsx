/** The wall: the order of sessions, the keyboard, both languages, and pictures only of sessions in view. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { act, render, screen, waitFor } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import axe from "axe-core";
import { createMemoryRouter, RouterProvider } from "react-router";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { WallPage as Wall, WallSession } from "@/generated/api";
import { I18nProvider, type Language } from "@/shared/i18n/i18n";
import { TopBarProvider } from "@/shared/ui/top-bar";

import WallPage from "./wall-page";

const AT = "2026-01-01T12:00:00Z";
const session = (id: string, given: Partial<WallSession> = {}): WallSession => ({
  id,
  instruction: `Do ${id}`,
  pool: "Desktop basics",
  annotator: id,
  status: "running",
  help_requested: false,
  attended: true,
  pictured: true,
  text: "",
  steps: 3,
  override: null,
  created_at: "2026-01-01T11:50:00Z",
  last_step_at: "2026-01-01T11:59:00Z",
  ...given,
});

/** Reports which tiles are in view; jsdom has no layout. */
let inView: (ids: readonly string[]) => void;
let requests: string[][];

function open(items: WallSession[], language: Language = "en") {
  const wall: Wall = { at: AT, items, total: items.length, waiting: items.filter((one) => one.help_requested).length, next: null };
  vi.stubGlobal("fetch", (url: string, { body }: { body?: string } = {}) => {
    if (!url.endsWith("/wall/tickets")) return Promise.resolve(Response.json(wall));
    requests.push((JSON.parse(body ?? "") as { episodes: string[] }).episodes);
    return Promise.resolve(Response.json([]));
  });
  const router = createMemoryRouter(
    [
      { path: "/wall", element: <WallPage /> },
      { path: "/desk/:id", element: <p>The workspace</p> },
    ],
    { initialEntries: ["/wall"] },
  );
  const view = render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <MantineProvider env="test">
        <I18nProvider language={language}>
          <TopBarProvider>
            <RouterProvider router={router} />
          </TopBarProvider>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return { ...view, user: userEvent.setup(), router };
}

beforeEach(() => {
  requests = [];
  vi.stubGlobal(
    "IntersectionObserver",
    class {
      private readonly elements = new Set<HTMLElement>();
      constructor(tell: (entries: { target: HTMLElement; isIntersecting: boolean }[]) => void) {
        inView = (ids) =>
          act(() => tell([...this.elements].map((target) => ({ target, isIntersecting: ids.includes(target.dataset.key ?? "") }))));
      }
      observe(element: HTMLElement) {
        this.elements.add(element);
      }
      unobserve(element: HTMLElement) {
        this.elements.delete(element);
      }
      disconnect() {
        this.elements.clear();
      }
    },
  );
});
afterEach(() => vi.unstubAllGlobals());

describe("the wall", () => {
  it("shows the state of each session and counts those that wait for help", async () => {
    const { container } = open([session("ada", { help_requested: true }), session("ben", { attended: false, status: "paused" })]);
    const tiles = await screen.findAllByRole("listitem");
    expect(tiles[0]?.textContent).toContain("Asks for help");
    expect(tiles[1]?.textContent).toContain("Page closed");
    expect(tiles[1]?.textContent).toContain("3 steps");
    expect(screen.getByRole("status").textContent).toBe("2 live sessions1 waits for help");
    expect((await axe.run(container, { rules: { region: { enabled: false } } })).violations).toEqual([]);
  });

  it("requests pictures only of sessions in view, and none while paused", async () => {
    const { user } = open([session("ada"), session("ben"), session("cleo", { pictured: false })]);
    await screen.findAllByRole("listitem");
    inView(["ben", "cleo"]);
    await waitFor(() => expect(requests).toEqual([["ben"]]));
    await user.click(screen.getByRole("button", { name: "Pause pictures" }));
    inView(["ada", "ben"]);
    await user.click(screen.getByRole("button", { name: "Resume pictures" }));
    await waitFor(() => expect(requests.at(-1)).toEqual(["ada", "ben"]));
  });

  it("moves with the arrow keys and opens a session with Enter", async () => {
    const { user, router } = open([session("ada"), session("ben")]);
    await screen.findAllByRole("listitem");
    screen.getByRole("link", { name: /ada/ }).focus();
    await user.keyboard("{ArrowRight}");
    expect(document.activeElement).toBe(screen.getByRole("link", { name: /ben/ }));
    await user.keyboard("{Enter}");
    expect(router.state.location.pathname).toBe("/desk/ben");
  });

  it("shows its empty state in Chinese", async () => {
    open([], "zh");
    expect(await screen.findByText("目前没有进行中的会话")).toBeDefined();
  });
});
