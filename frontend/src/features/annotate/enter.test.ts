/** Enter follows what is on the screen. */
import { describe, expect, it } from "vitest";

import type { BrowserPage } from "@/generated/vocabulary";
import type { Connection } from "@/session/socket";
import { EMPTY_DRAFT } from "@/session/drafts";
import { makeEpisodeState, makeProposal, OBSERVATION } from "@/features/annotate/testing/fixtures";

import { compose } from "./composer";
import { enterOf } from "./enter";

const ONLINE: Connection = { phase: "online", latency: 5, retryAt: null, waiting: [], held: [] };
const first = makeProposal(1, { kind: "click", x: 5, y: 5 });
const episode = makeEpisodeState({ proposals: [makeProposal(2, null), first] });
const ended = { ...episode, observation: { ...OBSERVATION, page: { done: true } as BrowserPage } };
const empty = compose(EMPTY_DRAFT, episode);
const step = compose({ ...EMPTY_DRAFT, command: "click(1, 1)", thought: "Mine" }, episode);
const now = { episode, composed: empty, connection: ONLINE, canAct: true, viewedStep: null };
const waiting = [{ command: { type: "accept", command_id: "accept-1", proposal_id: first.id, base_version: 0 }, at: 0 }] as unknown as Connection["waiting"];

describe("Enter", () => {
  it("accepts the first candidate that is an action", () => {
    expect(enterOf(now)).toEqual({ does: "accept", proposal: first });
  });

  it("accepts a candidate that ends the task, and goes on to the next one", () => {
    const done = makeProposal(1, { kind: "finish", answer: "" });
    expect(enterOf({ ...now, episode: { ...episode, proposals: [done] } })).toEqual({ does: "accept_end", proposal: done });
    const click = makeProposal(1, { kind: "click", x: 1, y: 1 }, { further_actions: [{ kind: "finish", answer: "" }] });
    expect(enterOf({ ...now, episode: { ...episode, proposals: [click] } }).does).toBe("accept");
  });

  it("does what was composed", () => {
    expect(enterOf({ ...now, composed: step }).does).toBe("step");
    expect(enterOf({ ...now, episode: ended, composed: step }).does).toBe("step");
  });

  it("finishes on a page that has ended: a candidate would begin it again", () => {
    expect(enterOf({ ...now, episode: ended })).toEqual({ does: "finish" });
  });

  it("asks how it ended where the time is over", () => {
    const over = { ...episode, observation: { ...OBSERVATION, page: { done: false, truncated: true } as BrowserPage } };
    expect(enterOf({ ...now, episode: over })).toEqual({ does: "finish_ask" });
  });

  it("does nothing while the past is looked at, composed or not", () => {
    expect(enterOf({ ...now, viewedStep: 0 })).toEqual({ does: "nothing", why: "past" });
    expect(enterOf({ ...now, viewedStep: 0, composed: step })).toEqual({ does: "nothing", why: "past" });
  });

  it("does nothing during a takeover: the server would refuse it", () => {
    expect(enterOf({ ...now, episode: { ...episode, takeover: true } })).toEqual({ does: "nothing", why: "takeover" });
  });

  it("does nothing while a step waits for the connection", () => {
    expect(enterOf({ ...now, connection: { ...ONLINE, phase: "offline", waiting } })).toEqual({ does: "nothing", why: "sending" });
    expect(enterOf({ ...now, connection: { ...ONLINE, phase: "offline" } }).does).toBe("accept");
    expect(enterOf({ ...now, connection: { ...ONLINE, waiting } }).does).toBe("accept");
  });

  it("does nothing for who only watches, and without candidates", () => {
    expect(enterOf({ ...now, canAct: false })).toEqual({ does: "nothing", why: "none" });
    expect(enterOf({ ...now, episode: makeEpisodeState() })).toEqual({ does: "nothing", why: "none" });
  });
});
