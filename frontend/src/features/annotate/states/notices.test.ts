/** What is said, and what is not, in each state. */
import { describe, expect, it } from "vitest";

import type { EpisodeState, Step } from "@/generated/vocabulary";
import { viewOf } from "@/session/reducer";
import type { Connection } from "@/session/socket";
import { makeEpisodeState, OBSERVATION } from "@/features/annotate/testing/fixtures";

import { LEASE_WARNING, noticesOf } from "./notices";

const NOW = Date.parse("2026-01-02T03:04:05Z");
const ONLINE: Connection = { phase: "online", latency: 5, retryAt: null, waiting: [], held: [] };
const step = (decision: Step["decision"]): Step => ({
  index: 0, command_id: "command-0", actor: "human", decision, acted_by: null, proposal_id: null, acceptable_ids: [], wrong_ids: [], thought_timing: "before", continued_characters: 0, thought: "",
  action: { kind: "wait", seconds: 1 }, before: OBSERVATION, after: OBSERVATION, error: null, policy: null,
  started_at: OBSERVATION.captured_at, ended_at: OBSERVATION.captured_at, decide_ms: null, undone: false, review: null, batch: null, not_done: [], provider_calls: [],
});
const entry = { command: { type: "resample", command_id: "command-1" }, at: NOW } as const;

const names = (episode: Partial<EpisodeState>, connection: Partial<Connection> = {}, control: "mine" | "other" | "nobody" = "mine", online = true) =>
  noticesOf(viewOf(makeEpisodeState(episode), control), { ...ONLINE, ...connection }, NOW, online).map(({ name }) => name);

describe("notices", () => {
  it("are none while all is well", () => {
    expect(names({})).toEqual([]);
  });

  it("tell a lost connection from a lost network, and count what waits", () => {
    expect(names({}, { phase: "offline" })).toEqual(["reconnecting"]);
    expect(names({}, { phase: "online" }, "mine", false)).toEqual(["offline"]);
    const [offline] = noticesOf(viewOf(makeEpisodeState({}), "mine"), { ...ONLINE, phase: "offline", waiting: [entry] }, NOW, false);
    expect(offline).toMatchObject({ name: "offline", pending: 1 });
  });

  it.each(["signed_out", "forbidden", "missing"] as const)("say that one is %s", (phase) => {
    expect(names({}, { phase })).toEqual([phase]);
  });

  it("say that the machine goes back, for as long as it takes", () => {
    const undo = { command: { type: "undo", command_id: "command-2" }, at: NOW } as const;
    const since = (ms: number) => noticesOf(viewOf(makeEpisodeState({}), "mine"), { ...ONLINE, waiting: [undo] }, NOW + ms, true);
    expect(since(0)).toEqual([{ name: "undoing", seconds: 0 }]);
    expect(since(12_900)).toEqual([{ name: "undoing", seconds: 12 }]);
  });

  it("ask about commands that grew old", () => {
    expect(names({}, { held: [entry] })).toEqual(["held"]);
  });

  it("offer control to who only looks on, and not once it has ended", () => {
    expect(names({}, {}, "other")).toEqual(["view_only"]);
    expect(names({ status: "finished" }, {}, "nobody")).toEqual([]);
  });

  it("say that a step waits for room on the disk", () => {
    const view = { ...viewOf(makeEpisodeState({}), "mine"), storageFull: true };
    expect(noticesOf(view, ONLINE, NOW, true).map(({ name }) => name)).toEqual(["storage_full"]);
  });

  it("warn before the lease ends", () => {
    const at = (left: number) => new Date(NOW + left).toISOString();
    expect(names({ lease_expires_at: at(LEASE_WARNING) })).toEqual([]);
    expect(names({ lease_expires_at: at(LEASE_WARNING - 1) })).toEqual(["lease"]);
  });

  it("tell where an attempt begins until its first own act", () => {
    const branch_of = { episode: "e0", steps: 1, state: "reached", reason: "" } as const;
    expect(names({ branch_of, steps: [step("again")] })).toEqual(["branch_reached"]);
    expect(names({ branch_of: { ...branch_of, state: "missed", reason: "another screen" } })).toEqual(["branch_missed"]);
    expect(names({ branch_of, steps: [step("again"), step("accept")] })).toEqual([]);
    expect(names({ branch_of: { ...branch_of, state: "wanted" }, status: "warming" })).toEqual([]);
  });

  it("never leave a takeover or the autopilot unsaid", () => {
    expect(names({ takeover: true })).toEqual(["takeover"]);
    expect(names({ autopilot: true, help_requested: true })).toEqual(["autopilot", "help_requested"]);
  });
});
