/** Made-up worlds: what the server would answer in each of the states a screen must be good in. */
import type { Agreement, EpisodePage, EpisodeSummary, ExportOut, Facets, FoundPage, JudgesPage, PoolSummary, Queue, ReviewQueue, SessionOut, ReviewDetails, UserOut } from "../src/generated/api";
import { fleet, preparedRequests } from "./fleet";
import { home, wall } from "./home";
import { snapshot, trajectory } from "./trajectory";

export const WORLDS = ["default", "fresh", "empty", "broken", "signedout", "expired", "running", "reviewed", "admin", "disputed", "returned", "blind"] as const;
export type World = (typeof WORLDS)[number];
export const isWorld = (name: string): name is World => (WORLDS as readonly string[]).includes(name);

export type Answer = { status: number; body: unknown };

const minutesAgo = (minutes: number) => new Date(Date.now() - minutes * 60_000).toISOString();

const EPISODE: EpisodeSummary = {
  id: "0192f0c4-0000-7000-8000-000000000001",
  task_id: "rename-report",
  instruction: "Rename report.txt on the desktop to final.txt and open it.",
  pool: "Desktop basics",
  status: "running",
  outcome: null,
  verdict: null,
  steps: 6,
  annotator: "annie",
  annotator_name: "Annie",
  practice: false,
  help_requested: false,
  created_at: minutesAgo(12),
  finished_at: null,
  review: "pending",
  review_reason: "",
  note: "",
};

const ended = (number: number, patch: Partial<EpisodeSummary>): EpisodeSummary => ({
  ...EPISODE,
  id: `0192f0c4-0000-7000-8000-0000000001${String(number).padStart(2, "0")}`,
  status: "finished",
  outcome: "success",
  verdict: { success: true, score: 1, reason: "final.txt exists and is open", verifier: "", version: "", points: null, error: "" },
  created_at: minutesAgo(40 * number),
  finished_at: minutesAgo(40 * number - 9),
  ...patch,
});

const RECENT: EpisodeSummary[] = [
  ended(1, { review: "accepted" }),
  ended(2, {
    instruction: "In the calculator work out 17 % of 4 380 and write the result into a new note called vat.txt.",
    outcome: "success",
    verdict: { success: false, score: 0, reason: "vat.txt says 744, expected 744.6", verifier: "", version: "", points: null, error: "" },
    steps: 14,
  }),
  ended(3, { instruction: "把桌面上的“会议记录.md”移动到“归档”文件夹，并将文件夹改名为“2026 归档”。", steps: 9, review: "returned", review_reason: "…" }),
  ended(4, { instruction: "Find the largest file in Documents and delete it.", outcome: "infeasible", verdict: null, steps: 5 }),
  ended(5, { instruction: "Set the terminal's font to 14 points.", status: "left", outcome: "skipped", verdict: null, steps: 2 }),
  ended(6, { instruction: "Copy the second paragraph of notes.md to the clipboard and paste it at the end of report.txt.", outcome: "failure", verdict: { success: false, score: 0.3, reason: "", verifier: "", version: "", points: null, error: "" }, steps: 30 }),
];

const TO_REVIEW: EpisodeSummary = { ...ended(8, { instruction: "Empty the bin." }), id: "somebody-elses", annotator: "bo" };

const RETURNED: EpisodeSummary[] = [
  ended(7, {
    instruction: "Sort the files in Pictures by date and move the oldest three to a new folder named “Old”.",
    review: "returned",
    review_reason: "Step 4 moves four files, not three, and the thought of step 6 says nothing about why. Please do it again with the three oldest only.",
  }),
];

const POLICY = { name: "desk-script", revision: "r3", dialect: "ui_tars_1_5", scripted: true, teacher: false };
const GIVING = { stopped: false, stop_reason: "", opens_at: null };
const POOLS: PoolSummary[] = [
  { id: 1, name: "Desktop basics", description: "Files, windows, text: ten short tasks on a Linux desktop.", platform: "desktop", waiting: 12, mine_done: 31, practice: false, policy: POLICY, paused: false, ...GIVING },
  { id: 2, name: "Two programs", description: "Tasks that carry something from one program to another.", platform: "desktop", waiting: 4, mine_done: 3, practice: false, policy: { ...POLICY, name: "ui-tars-1.5-7b", revision: "r12", scripted: false, teacher: false }, paused: false, ...GIVING },
  { id: 3, name: "Browser forms", description: "Closed until Monday.", platform: "browser", waiting: 8, mine_done: 0, practice: false, policy: null, paused: true, ...GIVING },
  { id: 4, name: "Practice", description: "Try everything out; nothing here is exported.", platform: "desktop", waiting: 1, mine_done: 2, practice: true, policy: POLICY, paused: false, ...GIVING },
];

const REQUESTED: ExportOut["filters"] = {
  text: "", pool: null, decisions: [], policy: null, application: null, action: null, outcome: null, review: "accepted", annotator: null,
  reward_min: null, reward_max: null, steps_min: null, steps_max: null, since: null, until: null, undone: false, level: null,
};
const MADE: Pick<ExportOut, "plan" | "records" | "missing" | "refused" | "refused_codes" | "variants" | "destination" | "pushed" | "requested_by" | "pool"> = {
  pool: "",
  plan: {
    format: "canonical", dialect: "ui_tars_1_5", prompt: null, decisions: null, bar_evaluated: null, leave_out_missing: false, variants: [],
    budget: { images: 5, stride: 3, tokens: 6000, working: 12, episode: 0, note_tokens: 1500 },
    shares: { validation: 0, test: 0, salt: "" },
  },
  records: 0, missing: [], refused: 0, refused_codes: {}, variants: {}, destination: "", pushed: false, requested_by: "ravi",
};
const EXPORTS: ExportOut[] = [
  { id: "e1", pool_id: null, filters: REQUESTED, ...MADE, status: "running", progress: 0.42, trajectories: 128, bytes: 92_000_000, error: "", created_at: minutesAgo(1), finished_at: null },
  { id: "e2", pool_id: 1, filters: { ...REQUESTED, outcome: "success" }, ...MADE, refused: 3, refused_codes: { point_outside: 1, special_word: 2 }, status: "done", progress: 1, trajectories: 311, bytes: 260_400_000, error: "", created_at: minutesAgo(190), finished_at: minutesAgo(180) },
  { id: "e3", pool_id: null, filters: { ...REQUESTED, review: null, annotator: "annie" }, ...MADE, status: "failed", progress: 0.1, trajectories: 20, bytes: 0, error: "No space left on the device.", created_at: minutesAgo(3_000), finished_at: minutesAgo(2_999) },
];

const QUEUE: Queue = { current: [EPISODE, { ...EPISODE, id: "2", practice: true, instruction: "Practice: open the calculator and add two numbers.", status: "paused", steps: 1, help_requested: true }], returned: RETURNED, recent: RECENT, pools: POOLS };
const QUEUES: Partial<Record<World, Queue>> = {
  fresh: { current: [], returned: [], recent: [], pools: POOLS },
  empty: { current: [], returned: [], recent: [], pools: [] },
};

const session = (world: World): SessionOut => ({
  csrf: "preview",
  sso: "", mail: false,
  user: world === "signedout" ? null : { id: 1, username: "annie", name: "Annie Ong", roles: world === "admin" ? ["admin"] : ["annotator", "reviewer", "researcher"], preferences: {} },
});

const ok = (body: unknown): Answer => ({ status: 200, body });
const refused = (status: number, code: string): Answer => ({ status, body: { code, message: "Made up.", extra: null } });

/** What the server says in a world. */
export function answer(world: World, method: string, url: URL, body: unknown = null): Answer {
  const path = url.pathname.replace("/api", "");
  if (path === "/session") return method === "POST" && world === "signedout" ? refused(401, "wrong_credentials") : ok(session(world));
  if (world === "broken") return refused(500, "internal");
  if (world === "expired") return refused(401, "not_signed_in");
  if (path === "/me") return ok({ ...session(world).user, ...(body as Partial<UserOut>) });
  if (path.startsWith("/fleet/") && method === "POST") return { status: 200, body: null };
  return foundIn(lists(world)[path] ?? (path.startsWith("/fleet/") ? null : episode(path, world, method)));
}

const foundIn = (found: unknown): Answer => (found === null ? refused(404, "not_found") : ok(found));

function lists(world: World): Record<string, unknown> {
  const empty = world === "empty";
  const page: EpisodePage = { items: [EPISODE, ...RECENT, ...RETURNED, TO_REVIEW], total: 57, next: 2 };
  return {
    "/queue": QUEUES[world] ?? QUEUE,
    "/queue/next": { episode_id: null },
    "/pools": POOLS,
    "/reviews/queue": { items: empty ? [] : [{ episode: TO_REVIEW, round: 1, claim: null, adjudication: world === "disputed", recorded: false }], total: empty ? 0 : 1, next: null, capped: false } satisfies ReviewQueue,
    "/reviews/next": empty ? null : TO_REVIEW,
    "/reviews/agreement": { decisions: { episodes: 12, share: 0.75, alpha: 0.61, words: 0, words_alpha: null }, alpha: null, steps_judged_together: 0, mean_agreement: null, tasks: [], gold: [] } satisfies Agreement,
    "/exports": empty ? [] : EXPORTS,
    "/datasets": [],
    "/trajectories": { items: [], total: 9, next: null } satisfies FoundPage,
    "/trajectories/facets": { total: 9, pools: [], decisions: [], policies: [], applications: [], actions: [], outcomes: [], reviews: [{ value: "accepted", count: 7 }] } satisfies Facets,
    "/fleet": fleet(empty),
    "/fleet/prepared-requests": preparedRequests(empty),
    "/home": home(empty),
    "/wall": wall(empty),
    "/wall/tickets": [],
    "/judges": { judges: [], pools: [], rows: [], reports: [] } satisfies JudgesPage,
    "/episodes": empty ? { items: [], total: 0, next: null } : page,
  };
}

/** What a reviewer finds beside a replay: sent back once, mended since. */
function sheet(world: World): ReviewDetails {
  const accepted = world === "reviewed";
  const returned = world === "returned";
  const disputed = world === "disputed";
  const click = { kind: "click", x: 512, y: 388 } as const;
  const episode: EpisodeSummary = { ...ended(1, {}), annotator: "bo", annotator_name: "Bo Larsen", review: accepted ? "accepted" : returned ? "returned" : "pending" };
  return {
    episode,
    round: 2,
    may: returned ? "mend" : "review",
    claim: null,
    opinions: disputed
      ? [
          { round: null, reviewer: "Rosa", mine: false, decision: "accept", reason: "" },
          { round: null, reviewer: "Rita", mine: false, decision: "return", reason: "Step 2 clicks the wrong window." },
        ]
      : [],
    blind: world === "blind",
    rounds: [{ number: 1, decision: "return", reason: "See step 2.", reviewer: "Rosa", decided_at: minutesAgo(30) }],
    remarks: [{ index: 1, round: 1, reviewer: "Rosa", mine: false, verdict: "wrong_element", comment: "The other window." }],
    fixes: [{ index: 1, revision: 1, thought: "The left one.", action: click, reason: "", author: "Bo", created_at: minutesAgo(20) }],
    segments: [],
    can_undo_cut: false,
    previous: null,
    changes: [{ kind: "changed", before: { index: 1, thought: "This one.", action: { ...click, x: 100 } }, after: { index: 1, thought: "The left one.", action: click } }],
    siblings: [{ id: "somebody-elses", annotator: "cy", outcome: "failure", steps: 7, chosen: false }],
    check: null,
    duplicates: [],
  };
}

function episode(path: string, world: World, method: string): unknown {
  const running = world === "running";
  if (path.endsWith("/trajectory")) return trajectory(running);
  if (path.endsWith("/review/sheet")) return sheet(world);
  if (path.endsWith("/review")) return { ...RECENT[0], review: method === "POST" || world === "reviewed" ? "accepted" : "pending" };
  return /^\/episodes\/[^/]+$/.test(path) ? snapshot(running) : null;
}
