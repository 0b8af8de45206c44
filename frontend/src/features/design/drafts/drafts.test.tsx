/** Drafts are gone through and decided by keys; what says the same is taken only if that is confirmed. */
import { MantineProvider } from "@mantine/core";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactNode } from "react";
import { afterEach, describe, expect, it, vi } from "vitest";

import type { DraftOut, DraftsOverview } from "@/generated/api";
import { CommandsProvider } from "@/shared/commands/commands";
import { I18nProvider } from "@/shared/i18n/i18n";

import { draftCommands } from "./commands";
import { linesOf } from "./draft-form";
import { DraftList } from "./draft-list";
import { apiQuery, fromSearch, toSearch } from "./filters";
import { RequestState } from "./request-state";

const NODES = [
  { id: 1, path: ["Mail"], waiting: 0 },
  { id: 2, path: ["Shop"], waiting: 2 },
  { id: 3, path: ["Shop", "Cart"], waiting: 2 },
];
const OVERVIEW: DraftsOverview = {
  nodes: NODES,
  writers: [],
  pools: [{ id: 7, name: "Office", platform: "desktop", image: "desktop", max_steps: 100 }],
};
const draft = (id: number, text: string): DraftOut => ({
  id,
  content: { text, expertise: "novice", applications: ["Shop"], criteria: ["The cart shows it"] },
  scope: "single",
  level: 1,
  level_contradicted: false,
  state: "waiting",
  writer: "",
  author: "Alma",
  original: "",
  prompt_sha256: "",
  reason: "",
  task: null,
  pool: "",
  matches: [],
});
const DRAFTS = [draft(11, "Buy a lamp."), draft(12, "Buy a mug.")];

afterEach(() => void vi.unstubAllGlobals());

function show(element: ReactNode, answers: Readonly<Record<string, unknown>> = {}) {
  const sent: { readonly path: string; readonly body: unknown }[] = [];
  vi.stubGlobal(
    "fetch",
    vi.fn((path: string, { body = null }: { readonly body?: string | null }) => {
      if (!path.endsWith("/check")) sent.push({ path, body: body === null ? null : JSON.parse(body) });
      const answer = answers[path];
      return Promise.resolve(new Response(answer === undefined ? null : JSON.stringify(answer), { status: answer === undefined ? 204 : 200 }));
    }),
  );
  render(
    <MantineProvider env="test">
      <QueryClientProvider client={new QueryClient()}>
        <I18nProvider language="en">
          <CommandsProvider all={Object.values(draftCommands)} keyMap={{}}>
            {element}
          </CommandsProvider>
        </I18nProvider>
      </QueryClientProvider>
    </MantineProvider>,
  );
  return { user: userEvent.setup(), sent };
}

const list = (
  <DraftList page={{ items: DRAFTS, after: null, request: null }} overview={OVERVIEW} after={0} onPage={() => undefined} admin />
);

describe("drafts", () => {
  it("are rejected by keys, with a reason", async () => {
    const { user, sent } = show(list);
    await user.keyboard("jr");
    const dialog = await screen.findByRole("dialog", { name: "Reject 1 draft" });
    await user.click(within(dialog).getByRole("button", { name: "Unclear" }));
    await waitFor(() => expect(sent).toEqual([{ path: "/api/design/drafts/reject", body: { drafts: [12], reason: "Unclear" } }]));
  });

  it("that say the same are accepted together once that is confirmed", async () => {
    const match = { kind: "task", id: 5, text: "Please purchase a lamp.", similarity: 0.9 };
    const { user, sent } = show(list, {
      "/api/design/drafts/check": [{ draft: 11, matches: [match] }],
      "/api/design/drafts/accept": { tasks: [1, 2] },
    });
    await user.keyboard("xjxa");
    const dialog = await screen.findByRole("dialog", { name: "Accept 2 drafts" });
    expect(await within(dialog).findByText("Please purchase a lamp.")).toBeTruthy();
    const accept = within(dialog).getByRole<HTMLButtonElement>("button", { name: "Accept" });
    expect(accept.disabled).toBe(true);
    await user.click(within(dialog).getByRole("checkbox", { name: "Accept 1 draft although it is said already" }));
    await user.click(accept);
    const body = { drafts: [11, 12], pool: 7, max_steps: null, network: [], confirmed: true };
    await waitFor(() => expect(sent).toEqual([{ path: "/api/design/drafts/accept", body }]));
  });

  it("that a model wrote badly are named with the reason", () => {
    const left_out = [{ text: "Write a nice mail.", reason: "vague_criterion", detail: "It looks good" } as const];
    const request = { id: "r", writer: "words 1", status: "running", error: "", count: 6, cells: 3, cells_done: 1, drafts: 2, left_out } as const;
    show(<RequestState request={{ ...request, left_out: [...left_out] }} admin />);
    expect(screen.getByRole("status").textContent).toBe("words 1 is writing: 1 of 3 kinds done, 2 drafts so far");
    expect(screen.getByText("1 reply was left out")).toBeTruthy();
    expect(screen.getByText("A criterion cannot be checked:")).toBeTruthy();
    expect(screen.getByRole("button", { name: "Cancel" })).toBeTruthy();
  });
});

describe("the address", () => {
  it("says which drafts are shown, and comes back the same", () => {
    expect(fromSearch(new URLSearchParams(), NODES)).toMatchObject({ node: 2, state: "waiting" });
    expect(fromSearch(new URLSearchParams(), [])).toBeNull();
    const search = "node=3&state=any&expertise=expert&written_by=model";
    const view = fromSearch(new URLSearchParams(search), NODES);
    expect(view && toSearch(view).toString()).toBe(search);
    expect(view && apiQuery(view, 9).toString()).toBe("node=3&expertise=expert&written_by=model&after=9");
  });
});

it("takes the lines that say something", () => {
  expect(linesOf(" one \n\n two")).toEqual(["one", "two"]);
});
