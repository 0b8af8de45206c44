/** A made-up trajectory with every kind of decision. */
import type { Action, Decision, Observation, Proposal, Snapshot, Step, Trajectory } from "../src/generated/vocabulary";
import { pictureName } from "./pictures";

const START = Date.parse("2026-11-20T09:30:00Z");
const time = (seconds: number) => new Date(START + seconds * 1_000).toISOString();
const POLICY = { name: "desk-script", revision: "r3", dialect: "ui_tars_1_5", scripted: true, teacher: false };

const frame = (windows: string, seconds: number, patch: Partial<Observation> = {}): Observation => ({
  screenshot: { sha256: pictureName(windows), media_type: "image/svg+xml", size: 2_000 },
  width: 1280,
  height: 720,
  captured_at: time(seconds),
  settled: true,
  rest: "rested",
  settle_ms: 84,
  accessibility: null,
  application: null,
  url: null,
  text: null,
  attachment: null,
  page: null,
  ...patch,
});

type StepSpec = { windows: string; decision: Decision; thought: string; action: Action; rejected?: string };

const STEP_SPECS: StepSpec[] = [
  { windows: "a", decision: "accept", thought: "The file manager is open. I should select report.txt before I can rename it.", action: { kind: "click", x: 192, y: 158 } },
  { windows: "a", decision: "override", thought: "A right-click opens the context menu, which has Rename.", action: { kind: "right_click", x: 192, y: 158 }, rejected: "double_click" },
  { windows: "ad", decision: "edit", thought: "The context menu is open and Rename… is its third entry.", action: { kind: "click", x: 440, y: 316 } },
  { windows: "ae", decision: "accept", thought: "The dialog wants the new name.", action: { kind: "type_text", text: "final.txt\n" } },
  { windows: "a", decision: "takeover", thought: "The window is in the way; I drag it to the side.", action: { kind: "drag", start: { x: 300, y: 85 }, end: { x: 620, y: 240 }, button: "left" } },
  { windows: "ab", decision: "auto", thought: "Look further down the terminal.", action: { kind: "scroll", point: { x: 780, y: 400 }, direction: "down", amount: 3 } },
  { windows: "ac", decision: "accept", thought: "The renamed file is open. The task is done.", action: { kind: "press_keys", keys: ["ctrl", "s"] } },
];

const proposal = (step: number, rank: number, action: Action | null, patch: Partial<Proposal> = {}): Proposal => ({
  id: `p${step}-${rank}`,
  rank,
  thought: rank === 1 ? (STEP_SPECS[step]?.thought ?? "") : "I could use the terminal instead and rename it with mv.",
  action,
  further_actions: [],
  action_text: action?.kind === "click" ? `click(start_box='(${action.x},${action.y})')` : "hotkey(key='ctrl alt t')",
  raw_text: "Thought: …",
  error: null,
  count: rank === 1 ? 2 : 1,
  likelihood: [0.62, 0.21, 0.17][rank - 1] ?? 0,
  policy: POLICY,
  sampling: { temperature: 1 },
  prompt_token_ids: null,
  completion_token_ids: null,
  logprobs: null,
  tokens_read: null,
  tokens_written: null,
  prompt: null,
  image_limits: null,
  weight_versions: [],
  others: [],
  warning: "",
  safety_checks: [],
  provider_calls: [],
  cost_usd: null,
  finish_reason: null,
  latency_ms: 320,
  created_at: time(step * 9),
  mark: null,
  ...patch,
});

const offered = (spec: StepSpec, step: number): Proposal[] => [
  proposal(step, 1, spec.decision === "override" ? { kind: "double_click", x: 192, y: 158 } : spec.action),
  proposal(step, 2, { kind: "press_keys", keys: ["ctrl", "alt", "t"] }),
  proposal(step, 3, null, {
    thought: "Open the file.",
    action_text: "click(start_box='(512,",
    error: { code: "unclosed", message: "The call has no closing bracket." },
  }),
];

const step = (spec: StepSpec, index: number): Step => ({
  index,
  command_id: `command-${index}`,
  actor: spec.decision === "auto" || spec.decision === "accept" ? "policy" : "human",
  decision: spec.decision,
  proposal_id: spec.decision === "override" || spec.decision === "takeover" ? null : `p${index}-1`,
  acceptable_ids: [`p${index}-2`],
  wrong_ids: spec.decision === "override" ? [`p${index}-1`] : [],
  thought: spec.thought,
  acted_by: null,
  thought_timing: "before",
  continued_characters: 0,
  action: spec.action,
  before: frame(spec.windows, index * 9),
  after: frame(STEP_SPECS[index + 1]?.windows ?? "c", index * 9 + 1, index === 5 ? { settled: false, rest: "timeout", settle_ms: 3_000 } : {}),
  error: index === 5 ? { code: "partial", message: "The wheel turned two notches of three." } : null,
  policy: POLICY,
  started_at: time(index * 9),
  ended_at: time(index * 9 + 1),
  decide_ms: spec.decision === "auto" ? null : 2_300 + index * 700,
  undone: false, review: null, batch: null, not_done: [], provider_calls: [],
});

const TASK: Trajectory["task"] = {
  id: "rename-report",
  instruction: "Rename report.txt on the desktop to final.txt and open it.",
  platform: "desktop",
  suite: "desktop",
  name: "rename-report",
  seed: 0,
  parameters: {},
  network: [],
  max_steps: 30,
};

/** The trajectory; a running one has no ending yet. */
export const trajectory = (running: boolean): Trajectory => ({
  format: "pilothouse-trajectory-1",
  id: "0192f0c4-0000-7000-8000-000000000101",
  task: TASK,
  origin: "annotation",
  annotator: "annie",
  capabilities: null,
  branch_of: null,
  tools: [],
  steps: STEP_SPECS.map(step),
  proposals: STEP_SPECS.map(offered),
  policies: [POLICY],
  supervisor_notes: [],
  memories: [],
  outcome: running ? null : "success",
  answer: "",
  verdict: running ? null : { success: false, score: 0, reason: "final.txt exists, but it is not open in the editor.", verifier: "", version: "", points: null, error: "" },
  reward: null,
  variant: "none",
  variant_steps: [],
  terminated: !running,
  truncated: false,
  created_at: time(0),
  finished_at: running ? null : time(70),
});

/** The workspace's state of the same episode. */
export const snapshot = (running: boolean): Snapshot => ({
  type: "snapshot",
  control: "nobody",
  acts_as: null,
  state: {
    id: "0192f0c4-0000-7000-8000-000000000101",
    version: STEP_SPECS.length,
    status: running ? "running" : "finished",
    task: TASK,
    branch_of: null,
    pool: "Desktop basics",
    instructions: "",
    thought_required: true, thought_later: false, text_continuation: true,
    capabilities: [],
    tools: [],
    can_undo: false,
    undo_blocked: false,
    observation: frame("ac", 70),
    steps: STEP_SPECS.map(step),
    proposals: [],
    thinking: "idle",
    thinking_error: "",
    thinking_code: "",
    unattended_safety_checks: false,
    policy: POLICY,
    pending: running ? { command_id: "command-7", action: { kind: "click", x: 640, y: 300 }, thought: "", started_at: time(70), batch: null } : null,
    memories: [],
    noting_policy: null,
    thinking_policy: null,
    noting: "off",
    noting_error: "",
    autopilot: false,
    takeover: false,
    help_requested: false,
    secret_requests: [],
    secrets_confirmed: [],
    outcome: running ? null : "success",
    answer: "",
    verdict: null,
    lease_expires_at: null,
    error: "",
    created_at: time(0),
    finished_at: running ? null : time(70),
  },
});
