// @vitest-environment happy-dom
/** What a person said is given back when it is refused, also to a page that was loaded again in between. */
import { beforeEach, expect, it, onTestFinished, vi } from "vitest";

import type { Command, Event } from "@/generated/vocabulary";

import { browserDraftStore } from "./drafts";
import { Session } from "./session";
import type { Wire } from "./socket";

const TYPED = { type: "act", action: { kind: "type_text", text: "a long letter" }, thought: "It asks for one.", continued_characters: 0, proposal_id: null } as const;

function open() {
  const sent: Command[] = [];
  const wire: Wire = { onopen: null, onmessage: null, onclose: null, send: (text) => sent.push(JSON.parse(text) as Command), close: () => undefined };
  const drafts = browserDraftStore(1);
  const session = new Session({ episodeId: "e1", url: "/ws", open: () => wire, fetchSnapshot: () => new Promise(() => undefined), drafts });
  const stop = session.start();
  const say = (event: Event) => wire.onmessage?.({ data: JSON.stringify(event) });
  return { session, drafts, stop, sent, say, connect: () => wire.onopen?.(), close: (code: number) => wire.onclose?.({ code }) };
}

beforeEach(() => {
  localStorage.clear();
  sessionStorage.clear();
});

it("gives back a command that was restored, sent again and then refused", () => {
  const before = open();
  const id = before.session.send(TYPED);
  before.stop();
  const { session, connect, sent, say } = open();
  connect();
  expect(sent.find(({ type }) => type === "act")).toMatchObject({ command_id: id });
  say({ type: "rejected", command_id: id, code: "not_running", message: "The episode is paused." });
  expect(session.getState().rejection).toMatchObject({ code: "not_running", command: { ...TYPED, command_id: id } });
});

it("sends what a sign-in that ended left unanswered once more, as the same act, after the next sign-in", () => {
  const { session, connect, close, sent } = open();
  connect();
  const id = session.send(TYPED);
  close(4401);
  expect(session.getState().connection).toMatchObject({ phase: "signed_out", waiting: [{ command: { command_id: id } }] });
  session.reconnect();
  connect();
  expect(sent.filter(({ type }) => type === "act")).toEqual([{ ...TYPED, command_id: id }, { ...TYPED, command_id: id }]);
});

it("gives back what discarded commands said", () => {
  vi.useFakeTimers({ now: 0 });
  onTestFinished(() => void vi.useRealTimers());
  const before = open();
  before.session.send({ type: "help", message: "Which folder?" });
  before.session.send(TYPED);
  before.stop();
  vi.setSystemTime(120_000);
  const { session, drafts, connect } = open();
  connect();
  expect(session.getState().connection.held).toHaveLength(2);
  session.decideHeld("discard");
  expect(drafts.loadTexts("e1", "help")).toEqual({ message: "Which folder?" });
  expect(session.getState().discarded).toMatchObject(TYPED);
});
