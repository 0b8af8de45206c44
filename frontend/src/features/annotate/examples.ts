/** Values the desk's tests are made of. */
import type { Action, EpisodeState, Observation, Proposal } from "@/generated/vocabulary";

export const POLICY = { name: "example", revision: "r1", dialect: "ui_tars_1_5", scripted: false };
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
  url: null,
  text: null,
  attachment: null,
  page: null,
};

export function episodeState(changed: Partial<EpisodeState> = {}): EpisodeState {
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
    capabilities: ["click", "double_click", "right_click", "drag", "scroll", "type_text", "press_keys", "get_clipboard"],
    tools: [],
    can_undo: false,
    observation: OBSERVATION,
    steps: [],
    proposals: [],
    thinking: "ready",
    thinking_error: "",
    policy: POLICY,
    pending: null,
    memories: [],
    noting: "off",
    noting_error: "",
    autopilot: false,
    takeover: false,
    help_requested: false,
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

export function proposal(rank: number, action: Action | null, changed: Partial<Proposal> = {}): Proposal {
  return {
    id: `proposal-${rank}`,
    rank,
    thought: `Thought ${rank}`,
    action,
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
    latency_ms: 10,
    created_at: AT,
    mark: null,
    tokens_read: null,
    tokens_written: null,
    ...changed,
  };
}
