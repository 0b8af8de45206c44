/** Values for tests of the workspace. */
import type { Action, EpisodeState, Observation, Proposal, Step } from "@/generated/vocabulary";

export const POLICY = { name: "example", revision: "r1", dialect: "ui_tars_1_5", scripted: false, teacher: false };
const AT = "2026-01-02T03:04:05Z";

export const OBSERVATION: Observation = {
  screenshot: { sha256: "a".repeat(64), media_type: "image/png", size: 8 },
  width: 1280,
  height: 720,
  captured_at: AT,
  settled: true,
  rest: "rested",
  settle_ms: 100,
  accessibility: null,
  application: null,
  url: null,
  text: null,
  attachment: null,
  page: null,
};

/** A step that waited. */
export const STEP: Step = {
  ...{ index: 0, command_id: "step-1", actor: "human", decision: "override", proposal_id: null, acceptable_ids: [], wrong_ids: [] },
  ...{ thought_timing: "before", thought: "", action: { kind: "wait", seconds: 1 }, before: OBSERVATION, after: OBSERVATION, error: null, policy: null },
  ...{ started_at: OBSERVATION.captured_at, ended_at: OBSERVATION.captured_at, decide_ms: null, batch: null, not_done: [] },
  ...{ provider_calls: [], undone: false, review: null },
};

export function makeEpisodeState(changed: Partial<EpisodeState> = {}): EpisodeState {
  return {
    id: "episode-1",
    version: 4,
    status: "running",
    task: {
      id: "task-1",
      instruction: "Rename report.txt to final.txt.",
      platform: "desktop",
      suite: "desktop",
      name: "rename_file",
      seed: 7,
      parameters: {},
      network: [],
      max_steps: 30,
    },
    branch_of: null,
    pool: "Desktop",
    instructions: "",
    thought_required: true,
    thought_later: false,
    capabilities: ["click", "double_click", "right_click", "drag", "scroll", "type_text", "press_keys", "get_clipboard"],
    tools: [],
    can_undo: false,
    undo_blocked: false,
    observation: OBSERVATION,
    steps: [],
    proposals: [],
    thinking: "ready",
    thinking_error: "",
    thinking_policy: null,
    thinking_code: "",
    unattended_safety_checks: false,
    policy: POLICY,
    pending: null,
    memories: [],
    noting: "off",
    noting_error: "",
    noting_policy: null,
    autopilot: false,
    takeover: false,
    help_requested: false,
    secret_requests: [],
    secrets_confirmed: [],
    outcome: null,
    answer: "",
    verdict: null,
    lease_expires_at: null,
    error: "",
    created_at: AT,
    finished_at: null,
    ...changed,
  };
}

export function makeProposal(rank: number, action: Action | null, changed: Partial<Proposal> = {}): Proposal {
  return {
    id: `proposal-${rank}`,
    rank,
    thought: `Thought ${rank}`,
    action,
    further_actions: [],
    action_text: `call ${rank}`,
    raw_text: `raw ${rank}`,
    error: action === null ? { code: "unclosed", message: "The call has no closing bracket." } : null,
    count: 1,
    likelihood: 0.5,
    policy: POLICY,
    sampling: {},
    prompt_token_ids: null,
    completion_token_ids: null,
    logprobs: null,
    others: [],
    prompt: null,
    image_limits: null,
    weight_versions: [],
    finish_reason: null,
    warning: "",
    safety_checks: [],
    provider_calls: [],
    cost_usd: null,
    latency_ms: 10,
    created_at: AT,
    mark: null,
    tokens_read: null,
    tokens_written: null,
    ...changed,
  };
}
