/** What takes something away either asks first and says what is lost, or is done at once and can be undone. */
import { MantineProvider } from "@mantine/core";
import { cleanNotifications, Notifications } from "@mantine/notifications";
import { QueryClient, QueryClientProvider } from "@tanstack/react-query";
import { render, screen, waitFor, within } from "@testing-library/react";
import userEvent from "@testing-library/user-event";
import type { ReactElement } from "react";
import { MemoryRouter } from "react-router";
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { AssignmentBoard } from "@/features/pools/assignment-board";
import { SecretsDialog } from "@/features/pools/secrets-dialog";
import { TaskEditDialog } from "@/features/pools/task-edit-dialog";
import { JudgeTable } from "@/features/judges/judge-table";
import { QuotaTable } from "@/features/machines/quotas";
import { Groups } from "@/features/people/groups";
import { Invitations } from "@/features/people/invitations";
import { PersonDialog } from "@/features/people/person-dialog";
import { RuleTable } from "@/features/retention/rule-table";
import { SecondFactor } from "@/features/session/security/second-factor";
import { Tokens } from "@/features/session/security/tokens";
import { NodeForm } from "@/features/design/node-form";
import { Wordings } from "@/features/design/wordings";
import { SavedQueries } from "@/features/exports/search/saved-queries";
import { WebhookTable } from "@/features/webhooks/webhook-table";
import type { JudgeRow, PersonOut, PlacedTask, PoolRow, SecurityOut, TaskRow, WebhookOut } from "@/generated/api";
import { CommandsProvider } from "@/shared/commands/commands";
import { globalCommands } from "@/shared/commands/global";
import { I18nProvider } from "@/shared/i18n/i18n";

const AT = "2026-01-01T10:00:00Z";
const ADA: PersonOut = {
  ...{ id: 1, username: "ada", name: "Ada", email: "", roles: ["annotator"], skills: [], groups: [], active: true },
  ...{ two_factor: true, last_login: null, pseudonym: "p-1" },
};
const SECURITY: SecurityOut = { two_factor: true, recovery_codes_left: 9, sign_ins: [], tokens: [], password: false };
const HOOK: WebhookOut = {
  ...{ id: 5, url: "https://a.example", events: ["export.finished"], enabled: true, created_at: AT, created_by: "alma" },
  ...{ pending: 0, refusals: 0 },
};
const POOL: PoolRow = {
  ...{ id: 7, version: 3, policy: "nano 1", open_episodes: 0, policy_spent: 0, stopped_at: null, stop_reason: "", opens_at: null },
  tasks: { waiting: 0, claimed: 0, done: 0, broken: 0, withdrawn: 0, gold: 0 },
  ...{ credentials: ["PASSWORD"], credential_rules: [{ name: "PASSWORD", kinds: ["type_text"], hosts: [], applications: [], confirm: true }], mcp_servers: [], members: [1], groups: [] },
  settings: {
    ...{ name: "Office", description: "", instructions: "", platform: "desktop", image: "desktop", candidates: 3, max_steps: 100 },
    ...{ minutes: null, thought_required: true, thought_later: false, text_continuation: true, policy_budget: null, unattended_safety_checks: false, screenshot_format: "jpeg", record: false, speculation: false, takes_recordings: false, practice: false, paused: false },
    ...{ lease_minutes: 30, pause_hours: 8, overlap: 1, gold_percent: 0, review_mode: "all", review_percent: 10, reviewers: 1, priority: 0 },
    ...{ hours: null, consent: "", open_to_all: false, skills: [] },
  },
};
const JUDGED: JudgeRow = {
  pool: { id: 7, name: "Office" },
  judge: {
    ...{ id: 3, model: "m", created_at: AT, used: true },
    ref: { kind: "outcome_model", name: "orm", revision: "r2", scripted: false },
    settings: { votes: 1, combine: "majority", temperature: 1, max_tokens: 512, images: 5, method: "single", rating_threshold: 3 },
  },
  ...{ threshold: 0.7, finished: 0, judged: 0, unsaid: 0, at_threshold: null, best: null, run: null },
  counted: { successes: 0, failures: 0, unsaid_successes: 0, unsaid_failures: 0 },
};
const RULE = {
  ...{ id: 4, what: "unaccepted", pool_id: null, pool: null, days: 90, active: false, preview: null, ran_at: null } as const,
  ...{ removed: 0, freed: 0, error: "", created_by: "alma" },
};
const NODE = { id: 9, name: "Mail", parent: null, importance: 1, measures: null, measured_by: "", weight: 1, cells: [] };
const WEIGHTS = { frequency: 0.4, benefit: 0.4, transfer: 0.2 };

const WORDED: PlacedTask = {
  id: 10,
  pool: "mail",
  key: "mail/1",
  instruction: "Send it.",
  state: "waiting",
  level: 1,
  rubric: {},
  guessed: true,
  variant_of: null,
  accepted: 0,
  writing: { id: "w", writer: "Model", status: "done", error: "", suggestions: [{ id: 11, text: "Please send it." }] },
};

/** What pages ask for, by the end of its address. */
const READ: Record<string, unknown> = {
  "/groups": [{ id: 2, name: "Team", members: [1, 3] }],
  "/invitations": [{ id: 6, email: "a@b.example", roles: ["annotator"], groups: [], invited_by: "alma", expires_at: AT }],
  "/queries": [{ id: 8, name: "Mine", owner: "ada", mine: true, query: { text: "vim" }, created_at: AT }],
};

type Sent = { readonly method: string; readonly path: string; readonly body?: unknown };

let sent: Sent[] = [];

beforeEach(() => {
  sent = [];
  vi.stubGlobal("fetch", (path: string, { method = "GET", body }: RequestInit = {}) => {
    if (method === "GET") return Promise.resolve(Response.json(Object.entries(READ).find(([end]) => path.endsWith(end))?.[1] ?? {}));
    sent.push({ method, path: path.replace("/api", ""), ...(typeof body === "string" && { body: JSON.parse(body) as unknown }) });
    return Promise.resolve(method === "POST" ? Response.json({}) : new Response(null, { status: 204 }));
  });
});

afterEach(() => {
  cleanNotifications();
  vi.unstubAllGlobals();
});

function show(page: ReactElement) {
  render(
    <QueryClientProvider client={new QueryClient({ defaultOptions: { queries: { retry: false } } })}>
      <MantineProvider env="test">
        <I18nProvider language="en">
          <CommandsProvider all={Object.values(globalCommands)} keyMap={{}}>
            <Notifications />
            <MemoryRouter>{page}</MemoryRouter>
          </CommandsProvider>
        </I18nProvider>
      </MantineProvider>
    </QueryClientProvider>,
  );
  return userEvent.setup();
}

const none = () => undefined;
const soon = { timeout: 30_000 };

const ASKS: readonly [button: string, page: ReactElement, sends: Sent][] = [
  ["Break up Team", <Groups key="" />, { method: "DELETE", path: "/groups/2" }],
  ["Withdraw the invitation of a@b.example", <Invitations key="" />, { method: "DELETE", path: "/invitations/6" }],
  ["Let in without authenticator", <PersonDialog key="" person={ADA} onClose={none} />, { method: "DELETE", path: "/people/1/factor" }],
  ["Turn off", <SecondFactor key="" security={SECURITY} />, { method: "POST", path: "/me/factor/remove" }],
  ["New recovery codes", <SecondFactor key="" security={SECURITY} />, { method: "POST", path: "/me/factor/codes" }],
  [
    "End the token export",
    <Tokens key="" rows={[{ id: 11, name: "export", scopes: ["*:read"], created_at: AT, expires_at: AT, used_at: null }]} />,
    { method: "DELETE", path: "/me/tokens/11" },
  ],
  ["Make another secret for https://a.example", <WebhookTable key="" rows={[HOOK]} onShow={none} onSecret={none} />, { method: "POST", path: "/webhooks/5/secret" }],
  ["Remove https://a.example", <WebhookTable key="" rows={[HOOK]} onShow={none} onSecret={none} />, { method: "DELETE", path: "/webhooks/5" }],
  ["Forget PASSWORD", <SecretsDialog key="" pool={POOL} onClose={none} />, { method: "DELETE", path: "/pools/7/credentials/PASSWORD" }],
  ["Reject", <Wordings key="" task={WORDED} writers={[{ id: 1, name: "Model" }]} />, { method: "POST", path: "/suggestions/11/reject" }],
  ["Delete Mail", <NodeForm key="" node={NODE} weights={WEIGHTS} onGone={none} />, { method: "DELETE", path: "/design/nodes/9" }],
];

describe("what cannot be taken back", () => {
  it.each(ASKS)("asks: %s", async (button, page, sends) => {
    const user = show(page);
    const open = await screen.findByRole("button", { name: button }, soon);
    await user.click(open);
    const dialog = await screen.findByRole("dialog", { name: button }, soon);
    await user.click(within(dialog).getByRole("button", { name: "Cancel" }));
    await waitFor(() => expect(screen.queryByRole("dialog", { name: button })).toBeNull(), soon);
    expect(sent).toEqual([]);
    await user.click(open);
    const again = await screen.findByRole("dialog", { name: button }, soon);
    await user.click(within(again).getByRole("button", { name: open.textContent }));
    await waitFor(() => expect(sent).toMatchObject([sends]), soon);
  });
});

const BOARD = { pools: [POOL], people: [{ id: 1, username: "ada", name: "Ada", skills: [], groups: [] }], groups: [], missing_suites: [] };

const UNDONE: readonly [button: string, page: ReactElement, sends: Sent, undone: Sent][] = [
  [
    "Take Ada out of Office",
    <AssignmentBoard key="" board={BOARD} />,
    { method: "DELETE", path: "/pools/7/people/1" },
    { method: "POST", path: "/pools/7/people/1" },
  ],
  [
    "Forget the rule: Pictures of episodes nobody accepted, Every pool",
    <RuleTable key="" rules={[RULE]} onSwitchOn={none} />,
    { method: "DELETE", path: "/retention/rules/4" },
    { method: "POST", path: "/retention/rules", body: { what: "unaccepted", pool: null, days: 90 } },
  ],
  [
    "Remove orm from Office",
    <JudgeTable key="" rows={[JUDGED]} onThreshold={none} />,
    { method: "DELETE", path: "/pools/7/judges/3" },
    { method: "POST", path: "/pools/7/judges/3", body: { threshold: 0.7 } },
  ],
  [
    "Lift the limit of ada",
    <QuotaTable key="" quotas={[{ scope: "user", name: "ada", limit: 2, held: 1 }]} />,
    { method: "POST", path: "/fleet/quotas", body: { scope: "user", name: "ada", limit: null } },
    { method: "POST", path: "/fleet/quotas", body: { scope: "user", name: "ada", limit: 2 } },
  ],
  [
    "Forget the query Mine",
    <SavedQueries key="" search={new URLSearchParams()} />,
    { method: "DELETE", path: "/queries/8" },
    { method: "POST", path: "/queries", body: { name: "Mine", query: { text: "vim" } } },
  ],
];

describe("what can be taken back", () => {
  it.each(UNDONE)("is done at once and undone: %s", async (button, page, sends, undone) => {
    const user = show(page);
    await user.click(await screen.findByRole("button", { name: button }, soon));
    const offer = await screen.findByRole("button", { name: /^Undo/ }, soon);
    expect(sent).toMatchObject([sends]);
    await user.click(offer);
    await waitFor(() => expect(sent.slice(0, 2)).toMatchObject([sends, undone]), soon); // a recreated rule is counted again
    await waitFor(() => expect(screen.queryByRole("button", { name: /^Undo/ })).toBeNull(), soon);
  });

  it("brings back what a task was before its edit", async () => {
    const task: TaskRow = { ...{ id: 9, key: "a/1", state: "waiting" as const, done: 0, gold: false, gold_wanted: false, reference: null }, instruction: "Go.", max_steps: 30, network: [] };
    const user = show(<TaskEditDialog pool={7} task={task} onClose={none} />);
    await user.type(await screen.findByLabelText(/^Instruction/, {}, soon), " Now.");
    await user.click(screen.getByRole("button", { name: "Save" }));
    await user.click(await screen.findByRole("button", { name: /^Undo/, hidden: true }, soon));
    const edit = (instruction: string) => ({ method: "PATCH", path: "/tasks/9", body: { instruction } });
    await waitFor(() => expect(sent).toEqual([edit("Go. Now."), edit("Go.")]), soon);
  });

  it("is undone by a key, the latest first, three at most", async () => {
    const quotas = ["ada", "ben", "cai", "dora"].map((name) => ({ scope: "user", name, limit: 2, held: 0 }) as const);
    const user = show(<QuotaTable quotas={quotas} />);
    for (const { name } of quotas) await user.click(await screen.findByRole("button", { name: `Lift the limit of ${name}` }, soon));
    await waitFor(() => expect(screen.getAllByRole("button", { name: /^Undo/ })).toHaveLength(3), soon);
    await user.keyboard("{Alt>}z{/Alt}");
    await waitFor(() => expect(sent.at(-1)).toMatchObject({ body: { name: "dora", limit: 2 } }), soon);
  });
});
