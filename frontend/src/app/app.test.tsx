// @vitest-environment jsdom -- in happy-dom, the menu of the head of the page stays closed
/** The pages as a person uses them, keyboard first, against made-up worlds of the server. */
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import { createMemoryRouter } from "react-router";
import { beforeEach, describe, expect, it, vi } from "vitest";

import { answer, type World } from "@preview/worlds";

import { App } from "./app";
import { makeQueryClient } from "./query-client";
import { makeRoutes } from "./routes";

type Call = { method: string; path: string; body: unknown };

/** Opens a page in a world; the world may change while the page is open. */
function open(path: string, world: World = "default") {
  const calls: Call[] = [];
  const server = { world };
  vi.stubGlobal("fetch", (path: string, { method = "GET", body }: RequestInit) => {
    const sent: unknown = typeof body === "string" ? JSON.parse(body) : null;
    calls.push({ method, path, body: sent });
    const { status, body: given } = answer(server.world, method, new URL(path, "http://preview"), sent);
    return Promise.resolve(Response.json(given, { status }));
  });
  const client = makeQueryClient();
  const router = createMemoryRouter(makeRoutes(client), { initialEntries: [path] });
  render(<App client={client} router={router} />);
  return { calls, server, router, user: userEvent.setup(), sent: (path: string) => calls.filter((call) => call.path === `/api${path}`) };
}

/** Whose sheet every episode of the made-up worlds has. */
const REVIEWED = "0192f0c4-0000-7000-8000-000000000101";
const soon = { timeout: 15_000 };

beforeEach(() => localStorage.clear());

describe("signing in", () => {
  it("asks who is there, and says when the password is wrong", async () => {
    const { user } = open("/queue", "signedout");
    await user.type(await screen.findByLabelText("Name"), "annie");
    await user.type(screen.getByLabelText("Password"), "wrong{Enter}");
    expect(await screen.findByText("Made up.")).toBeTruthy();
  });

  it("asks again over the page when the sign-in ends, and goes on where it was", async () => {
    const { user, server, sent } = open("/queue");
    await screen.findByText("Sent back to you", {}, soon);
    server.world = "expired";
    await user.keyboard("n");
    const dialog = await screen.findByRole("dialog", { name: "Sign in again" });
    expect(screen.getByText("Sent back to you")).toBeTruthy();
    server.world = "default";
    await user.type(within(dialog).getByLabelText("Password"), "right{Enter}");
    await waitFor(() => expect(sent("/queue/next")).toHaveLength(2));
    expect(await screen.findByText("Nothing waits for you")).toBeTruthy();
  });
});

describe("the queue", () => {
  it("shows what to do, with the reason something came back and whether a policy is a model", async () => {
    open("/queue");
    expect(await screen.findByText(/Step 4 moves four files/, {}, soon)).toBeTruthy();
    expect(screen.getAllByText("scripted, not a model").length).toBeGreaterThan(0);
    expect(screen.getByText("Disagrees")).toBeTruthy();
  });

  it("takes the next task with one key", async () => {
    const { user, sent } = open("/queue", "fresh");
    await screen.findByText("17 tasks wait for you", {}, soon);
    await user.keyboard("n");
    await waitFor(() => expect(sent("/queue/next")).toMatchObject([{ method: "POST", body: {} }]));
  });

  it("takes practice with another", async () => {
    const { user, sent } = open("/queue", "fresh");
    await screen.findByText("17 tasks wait for you", {}, soon);
    await user.keyboard("p");
    await waitFor(() => expect(sent("/queue/next")).toMatchObject([{ body: { practice: true } }]));
  });

  it("says what is missing when there is nothing", async () => {
    open("/queue", "empty");
    expect(await screen.findByText("You are in no pool yet", {}, soon)).toBeTruthy();
  });
});

describe("help and palette", () => {
  it("lists every command and finds one by a word", async () => {
    const { user } = open("/queue");
    await screen.findByText("Pools", {}, soon);
    await user.keyboard("?");
    const help = await screen.findByRole("dialog", { name: "Keyboard help" });
    expect(within(help).getByText("Play or pause")).toBeTruthy();
    await user.type(within(help).getByLabelText("Search commands"), "practice");
    expect(within(help).queryByText("Play or pause")).toBeNull();
    expect(within(help).getByText("Practice")).toBeTruthy();
  });

  it("runs a command by its name", async () => {
    const { user, router } = open("/queue");
    await screen.findByText("Pools", {}, soon);
    await user.keyboard("{Control>}k{/Control}");
    await user.type(await screen.findByLabelText("Search commands"), "list of episodes{Enter}");
    await waitFor(() => expect(router.state.location.pathname).toBe("/episodes"));
  });
});

describe("the review queue", () => {
  it("shows what waits, and begins with Enter", async () => {
    const { user, router, sent } = open("/review?outcome=success");
    expect(await screen.findByText("1 episode waits for a review", {}, soon)).toBeTruthy();
    await user.keyboard("{Enter}");
    await waitFor(() => expect(sent("/reviews/next")).toMatchObject([{ body: { outcome: "success", after: null, direction: "next" } }]), soon);
    await waitFor(() => expect(router.state.location.pathname).toBe("/episodes/somebody-elses"), soon);
  });

  it("says so when nothing waits", async () => {
    open("/review", "empty");
    expect(await screen.findByText("No episode waits for a review", {}, soon)).toBeTruthy();
  });

  it("shows agreement, and what is missing for it", async () => {
    open("/agreement");
    expect(await screen.findByText("No two reviewers judged the same steps differently enough to say", {}, soon)).toBeTruthy();
    expect(screen.getByText("No gold task has been done")).toBeTruthy();
  });
});

describe("the list of episodes", () => {
  it("takes its filters from the address and asks the server for them", async () => {
    const { sent } = open("/episodes?status=finished&review=pending&page=2");
    expect(await screen.findByText("57 episodes", {}, soon)).toBeTruthy();
    expect(sent("/episodes?status=finished&review=pending&page=2")).toHaveLength(1);
  });
});

describe("the replay", () => {
  it("goes through the steps by key, and shows who decided and what else was offered", async () => {
    const { user, router } = open("/episodes/1");
    const panel = await screen.findByRole("complementary", {}, soon);
    expect(within(panel).getByText("Verifier and annotator disagree")).toBeTruthy();
    await user.keyboard("{ArrowRight}");
    expect(within(panel).getByText("Overridden")).toBeTruthy();
    expect(within(panel).getByText("Double-click at (192, 158)")).toBeTruthy();
    expect(within(panel).getByText("Wrong")).toBeTruthy();
    await waitFor(() => expect(router.state.location.search).toBe("?step=2"));
    await user.keyboard("{End}");
    expect(screen.getByAltText("The screen after step 7")).toBeTruthy();
  });

  it("opens at the step the address names", async () => {
    open("/episodes/1?step=3");
    expect(await screen.findByAltText("The screen before step 3", {}, soon)).toBeTruthy();
  });

  it("jumps to a step of the timeline", async () => {
    const { user } = open("/episodes/1");
    await user.click(await screen.findByRole("button", { name: /^Step 5: Drag/ }, soon));
    expect(screen.getByAltText("The screen before step 5")).toBeTruthy();
  });

  it("lets a reviewer send it back only with a reason", async () => {
    const { user, sent } = open("/episodes/1");
    await screen.findByRole("button", { name: /^Send back/ }, soon);
    await user.keyboard("r");
    const button = screen.getByRole("button", { name: /^Send back/ });
    expect(button).toHaveProperty("disabled", true);
    await user.keyboard("Too many files.");
    await user.click(button);
    await waitFor(() => expect(sent(`/episodes/${REVIEWED}/review`)).toMatchObject([{ body: { decision: "return", reason: "Too many files." } }]));
  });

  it("judges steps by digit, goes on to the next one, and corrects a step beside its picture", async () => {
    const { user, sent } = open("/episodes/1?step=2");
    expect(await screen.findByText("The other window.", {}, soon)).toBeTruthy();
    await user.keyboard("3");
    await waitFor(() => expect(sent(`/episodes/${REVIEWED}/review/steps/1`)).toMatchObject([{ body: { verdict: "wrong_action", comment: "" } }]));
    expect(screen.getByText("Step 3 of 7", { selector: "h2" })).toBeTruthy();
    await user.keyboard("ke");
    const form = await screen.findByRole("form", { name: "Correct step 2" });
    expect(screen.queryByRole("dialog")).toBeNull();
    const line = within(form).getByLabelText("Action");
    await user.clear(line);
    await user.type(line, "click(7");
    expect(within(form).getByText("This is not an action.")).toBeTruthy();
    await user.type(line, ", 9){Enter}");
    await waitFor(() =>
      expect(sent(`/episodes/${REVIEWED}/review/steps/1/fixes`)).toMatchObject([{ body: { base: 1, thought: "The left one.", action: { kind: "click", x: 7, y: 9 } } }]),
    );
  });

  it("trims and splits by key, and says what changed since it was sent back", async () => {
    const { user, sent } = open("/episodes/1?step=3");
    expect(await screen.findByText("1 change since it was sent back", {}, soon)).toBeTruthy();
    await user.keyboard("b");
    await waitFor(() => expect(sent(`/episodes/${REVIEWED}/review/cuts`)).toMatchObject([{ body: { do: "trim", first: 2, last: 6 } }]));
    expect(screen.getByRole("link", { name: "Compare with cy" }).getAttribute("href")).toContain("/compare?one=");
  });

  it("goes on to what else waits for a review", async () => {
    const { user, router, sent } = open("/episodes/1");
    await screen.findByRole("button", { name: /^Accept/ }, soon);
    await user.keyboard("{Shift>}{Enter}{/Shift}");
    await waitFor(() => expect(sent(`/episodes/${REVIEWED}/review`)).toMatchObject([{ body: { decision: "accept" } }]));
    await user.keyboard("n");
    await waitFor(() => expect(router.state.location.pathname).toBe("/episodes/somebody-elses"));
  });

  it("offers no decision on what was decided before", async () => {
    const { user, sent } = open("/episodes/1", "reviewed");
    expect(await within(await screen.findByRole("region", { name: "Review" }, soon)).findByText("Accepted")).toBeTruthy();
    expect(screen.queryByRole("button", { name: /^Accept/ })).toBeNull();
    await user.keyboard("{Shift>}{Enter}{/Shift}");
    expect(sent(`/episodes/${REVIEWED}/review`)).toEqual([]);
  });

  it("is read only while the episode runs", async () => {
    open("/episodes/1", "running");
    await screen.findByRole("complementary", {}, soon);
    expect(screen.queryByRole("region", { name: "Review" })).toBeNull();
  });
});

describe("exports", () => {
  it("starts one and shows how far it is", async () => {
    const { user, calls } = open("/exports?steps_min=3&pool=2");
    expect(await screen.findByText("42%", {}, soon)).toBeTruthy();
    expect(screen.getByRole("link", { name: "Download" }).getAttribute("href")).toBe("/api/exports/e2/download");
    await user.click(screen.getByRole("button", { name: "Export these…" }));
    const start = await screen.findByRole("button", { name: "Start export" }, soon);
    expect(screen.getByText(/^7 trajectories match/)).toBeTruthy();
    await user.click(screen.getByLabelText("Only what reviewers accepted (7 of 9)"));
    expect(screen.getByText(/^9 trajectories match/)).toBeTruthy();
    await user.click(screen.getByLabelText("Only what reviewers accepted (7 of 9)"));
    await user.click(start);
    await waitFor(() =>
      expect(calls.filter(({ method }) => method === "POST")).toMatchObject([
        { path: "/api/exports", body: { pool_id: null, filters: { review: "accepted", steps_min: 3, pool: 2 } } },
      ]),
    );
  });
});

describe("machines", () => {
  it("show who has what, and are for admins", async () => {
    const { user } = open("/machines", "admin");
    expect(await screen.findByText("6 machines, 3 in use", {}, soon)).toBeTruthy();
    expect(screen.getByRole("button", { name: "Watch desktop-9b20e1d4" }).hasAttribute("disabled")).toBe(false);
    expect(screen.getByRole("button", { name: "Watch terminal-0d41b5a9" }).hasAttribute("disabled")).toBe(true);
    await user.click(screen.getByRole("button", { name: "Manage" }));
    expect((await screen.findByRole("menuitem", { name: /^Machines/ }, soon)).getAttribute("aria-current")).toBe("page");
  });

  it("are taken back with a reason", async () => {
    const { user, sent } = open("/machines", "admin");
    await user.click(await screen.findByRole("button", { name: "Take back phone-77aa2c10" }, soon));
    const dialog = await screen.findByRole("dialog", { name: "Take back…" });
    const take = within(dialog).getByRole("button", { name: "Take back…" });
    expect(take.hasAttribute("disabled")).toBe(true);
    await user.type(within(dialog).getByLabelText("Reason"), "Needed elsewhere");
    await user.click(take);
    await waitFor(() => expect(sent("/fleet/machines/phone-77aa2c10/reclaim")).toMatchObject([{ body: { reason: "Needed elsewhere" } }]));
    await waitFor(() => expect(screen.queryByRole("dialog")).toBeNull());
  });

  it("stand ready as many as are wanted, on hosts that are not emptied, within limits", async () => {
    const { user, calls } = open("/machines", "admin");
    const target = await screen.findByLabelText("How many of desktop to keep ready", {}, soon);
    await user.clear(target);
    await user.type(target, "3{Enter}");
    await user.click(screen.getByRole("button", { name: "Fill again" }));
    await user.click(screen.getByRole("button", { name: "Lift the limit of *" }));
    await waitFor(() =>
      expect(calls.filter(({ method }) => method === "POST")).toMatchObject([
        { path: "/api/fleet/images/desktop/warm", body: { count: 3 } },
        { path: "/api/fleet/hosts/lab-2/draining", body: { draining: false } },
        { path: "/api/fleet/quotas", body: { scope: "user", name: "*", limit: null } },
      ]),
    );
  });
});

describe("preferences", () => {
  it("change the language at once and store it", async () => {
    const { user, calls } = open("/preferences");
    await user.click(await screen.findByLabelText("中文", {}, soon));
    expect(await screen.findByText("偏好设置", { selector: "[aria-current=page]" })).toBeTruthy();
    expect(document.documentElement.lang).toBe("zh-CN");
    await waitFor(() =>
      expect(calls.find(({ method }) => method === "PATCH")).toMatchObject({ path: "/api/me", body: { preferences: { language: "zh" } } }),
    );
  });

  it("give a command another key, and point out what it collides with", async () => {
    const { user, calls } = open("/preferences");
    const [ofQueue] = await screen.findAllByLabelText("Add a key to Next task", {}, soon);
    if (ofQueue) await user.click(ofQueue);
    await user.keyboard("p");
    await waitFor(() =>
      expect(calls.find(({ method }) => method === "PATCH")).toMatchObject({ body: { preferences: { keys: { "queue.next": ["N", "P"] } } } }),
    );
    expect((await screen.findAllByText("P also means “Practice”")).length).toBeGreaterThan(0);
  });
});
