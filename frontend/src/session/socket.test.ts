/** One socket, whatever the network does: nothing is lost, nothing is sent to the wrong screen. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Command, Event } from "@/generated/vocabulary";

import { CAPACITY, FRESH_MS, type IdentifiedCommand, type Outbox } from "./outbox";
import {
  ANSWER_LIMIT_MS,
  THROTTLE_PAUSE_MS,
  THROTTLE_BATCH,
  EpisodeSocket,
  PING_EVERY_MS,
  RESEND_AFTER_MS,
  SILENCE_LIMIT_MS,
  type Connection,
  type Wire,
} from "./socket";

class FakeWire implements Wire {
  onopen: Wire["onopen"] = null;
  onmessage: Wire["onmessage"] = null;
  onclose: Wire["onclose"] = null;
  readonly sent: Command[] = [];
  send(text: string): void {
    this.sent.push(JSON.parse(text) as Command);
  }
  close(): void {
    this.onclose?.({ code: 1000 });
  }
  receive(event: Event): void {
    this.onmessage?.({ data: JSON.stringify(event) });
  }
  get acts(): Command[] {
    return this.sent.filter(({ type }) => type !== "ping");
  }
}

const click = (id: string): IdentifiedCommand => ({
  type: "act",
  command_id: id,
  action: { kind: "click", x: 1, y: 2 },
  thought: "",
  continued_characters: 0,
  proposal_id: null,
});

function workspace(outbox: Outbox = []) {
  const wires: FakeWire[] = [];
  const seen: Connection[] = [];
  let stored: Outbox = [];
  const socket = new EpisodeSocket({
    url: "/ws/",
    open: () => {
      const wire = new FakeWire();
      wires.push(wire);
      return wire;
    },
    onEvent: () => undefined,
    onConnection: (connection) => seen.push(connection),
    onOutbox: (entries) => (stored = entries),
    outbox,
  });
  const wire = () => {
    const last = wires.at(-1);
    if (last === undefined) throw new Error("never connected");
    return last;
  };
  return { socket, wires, wire, last: () => seen.at(-1), stored: () => stored };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("resending", () => {
  it("sends what was not answered again, under the same id, after a reconnect", () => {
    const { socket, wires, wire } = workspace();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    socket.send(click("command-2"));
    wire().receive({ type: "acknowledged", command_id: "command-1" });
    wire().onclose?.({ code: 1006 });
    vi.advanceTimersByTime(1_000);
    expect(wires).toHaveLength(2);
    wire().onopen?.();
    expect(wire().acts).toEqual([click("command-2")]);
  });

  it("forgets keys of a takeover that nobody answered in time: they would strike another screen", () => {
    const { socket, wire, last } = workspace();
    socket.connect();
    wire().onopen?.();
    socket.send({ type: "input", command_id: "input-1", inputs: [{ kind: "press", key: "a" }] });
    wire().onclose?.({ code: 1006 });
    vi.advanceTimersByTime(2_000);
    wire().onopen?.();
    expect(wire().acts).toEqual([]);
    expect(last()).toMatchObject({ waiting: [], held: [] });
  });

  it("sends it again when control comes back, as after its runner broke", () => {
    const { socket, wire } = workspace();
    socket.connect();
    wire().onopen?.();
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    socket.send(click("command-1"));
    wire().receive({ type: "control.changed", control: "other", holder: "" });
    expect(wire().acts).toHaveLength(1);
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    expect(wire().acts).toEqual([click("command-1"), click("command-1")]);
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    expect(wire().acts).toHaveLength(2);
  });

  it("sends it again when no answer comes, while control is here", () => {
    const { socket, wire } = workspace();
    socket.connect();
    wire().onopen?.();
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    socket.send(click("command-1"));
    const pass = (milliseconds: number) => {
      for (let passed = 0; passed < milliseconds; passed += PING_EVERY_MS) {
        vi.advanceTimersByTime(PING_EVERY_MS);
        wire().receive({ type: "pong", at: 0, version: 0 });
      }
    };
    pass(RESEND_AFTER_MS - PING_EVERY_MS);
    expect(wire().acts).toHaveLength(1);
    pass(PING_EVERY_MS);
    expect(wire().acts).toHaveLength(2);
    wire().receive({ type: "control.changed", control: "other", holder: "" });
    pass(2 * RESEND_AFTER_MS);
    expect(wire().acts).toHaveLength(2);
  });

  it("keeps what is refused while control is elsewhere, and sends it when control comes back", () => {
    const { socket, wire, stored } = workspace();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    wire().receive({ type: "rejected", command_id: "command-1", code: "view_only", message: "" });
    expect(stored()).toHaveLength(1);
    expect(wire().acts).toHaveLength(1);
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    expect(wire().acts).toEqual([click("command-1"), click("command-1")]);
    wire().receive({ type: "acknowledged", command_id: "command-1" });
    expect(stored()).toEqual([]);
  });

  it("keeps nothing that a viewer gave", () => {
    const { socket, wire, stored } = workspace();
    socket.connect();
    wire().onopen?.();
    wire().receive({ type: "control.changed", control: "other", holder: "ada" });
    socket.send(click("command-1"));
    expect(socket.keeps("command-1")).toBe(true);
    wire().receive({ type: "rejected", command_id: "command-1", code: "view_only", message: "" });
    expect(socket.keeps("command-1")).toBe(false);
    expect(stored()).toEqual([]);
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    expect(wire().acts).toEqual([click("command-1")]);
  });

  it("never sends again unasked what has grown old", () => {
    const { socket, wire } = workspace();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    for (let passed = 0; passed <= FRESH_MS; passed += PING_EVERY_MS) {
      vi.advanceTimersByTime(PING_EVERY_MS);
      wire().receive({ type: "pong", at: 0, version: 0 });
    }
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    expect(wire().acts).toHaveLength(1);
  });

  it("keeps what is given while offline and sends it in order", () => {
    const { socket, wire, last, stored } = workspace();
    socket.connect();
    socket.send(click("command-1"));
    socket.send(click("command-2"));
    expect(wire().sent).toEqual([]);
    expect(stored()).toHaveLength(2);
    wire().onopen?.();
    expect(wire().acts.map((command) => "command_id" in command && command.command_id)).toEqual(["command-1", "command-2"]);
    expect(last()?.phase).toBe("online");
  });

  it("asks before sending what was meant for a screen long gone", () => {
    const { socket, wire, last } = workspace([{ command: click("command-1"), at: Date.now() - FRESH_MS }]);
    socket.connect();
    wire().onopen?.();
    expect(wire().acts).toEqual([]);
    expect(last()?.held).toHaveLength(1);
    socket.decideHeld("send");
    expect(wire().acts).toHaveLength(1);
    expect(last()?.held).toEqual([]);
  });

  it("forgets a command whose step the server has", () => {
    const { socket, wire, last } = workspace();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    const step = { command_id: "command-1" };
    wire().receive({ type: "step.added", version: 1, step } as Event);
    expect(last()?.waiting).toEqual([]);
  });

  it("refuses a command when the outbox is full, and keeps the others", () => {
    const { socket, stored } = workspace();
    for (let count = 0; count < CAPACITY; count += 1) expect(socket.send(click(`command-${count}`))).toBe(true);
    expect(socket.send(click("one-too-many"))).toBe(false);
    expect(stored()).toHaveLength(CAPACITY);
  });
});

describe("reconnecting", () => {
  it("waits longer each time, within bounds", () => {
    const { socket, wire, wires, last } = workspace();
    socket.connect();
    const waits: number[] = [];
    for (let count = 0; count < 10; count += 1) {
      wire().onclose?.({ code: 1006 });
      waits.push((last()?.retryAt ?? 0) - Date.now());
      vi.advanceTimersByTime(10_000);
    }
    expect(wires).toHaveLength(11);
    expect(waits[0]).toBeLessThanOrEqual(250);
    expect(waits.at(-1)).toBeGreaterThanOrEqual(5_000);
    expect(Math.max(...waits)).toBeLessThanOrEqual(10_000);
  });

  it.each([
    [4401, "signed_out"],
    [4403, "forbidden"],
    [4404, "missing"],
  ])("does not knock again after %i", (code, phase) => {
    const { socket, wire, wires, last } = workspace();
    socket.connect();
    wire().onclose?.({ code });
    vi.advanceTimersByTime(60_000);
    expect(last()?.phase).toBe(phase);
    expect(wires).toHaveLength(1);
  });

  it("takes silence for a dead connection", () => {
    const { socket, wire, wires } = workspace();
    socket.connect();
    wire().onopen?.();
    vi.advanceTimersByTime(SILENCE_LIMIT_MS);
    expect(wires).toHaveLength(1);
    vi.advanceTimersByTime(PING_EVERY_MS + 1_000);
    expect(wires).toHaveLength(2);
  });

  it("counts as offline while a ping has no answer, keeps what is given, and sends it once with the next answer", () => {
    const { socket, wire, wires, last } = workspace();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    vi.advanceTimersByTime(ANSWER_LIMIT_MS - 1);
    expect(last()?.phase).toBe("online");
    vi.advanceTimersByTime(1);
    expect(last()?.phase).toBe("offline");
    socket.send(click("command-2"));
    expect(wire().acts).toEqual([click("command-1")]);
    wire().receive({ type: "pong", at: 0, version: 0 });
    expect(last()?.phase).toBe("online");
    expect(wire().acts).toEqual([click("command-1"), click("command-2")]);
    expect(wires).toHaveLength(1);
  });

  it("counts as offline at once where the browser says so, and asks when the network is back", () => {
    const { socket, wire, wires, last } = workspace();
    socket.connect();
    wire().onopen?.();
    wire().receive({ type: "pong", at: 0, version: 0 });
    socket.suspend();
    expect(last()?.phase).toBe("offline");
    socket.send(click("command-1"));
    const pings = wire().sent.length;
    socket.connect();
    expect(wire().sent).toHaveLength(pings + 1);
    expect(wire().acts).toEqual([]);
    wire().receive({ type: "pong", at: 0, version: 0 });
    expect(wire().acts).toEqual([click("command-1")]);
    expect(wires).toHaveLength(1);
  });

  it("measures the round trip", () => {
    const { socket, wire, last } = workspace();
    socket.connect();
    wire().onopen?.();
    const at = Date.now();
    vi.advanceTimersByTime(42);
    wire().receive({ type: "pong", at, version: 0 });
    expect(last()?.latency).toBe(42);
  });

  it("does nothing by itself once closed, and can begin anew", () => {
    const { socket, wires } = workspace();
    socket.connect();
    socket.close();
    vi.advanceTimersByTime(60_000);
    expect(wires).toHaveLength(1);
    socket.connect();
    expect(wires).toHaveLength(2);
  });
});

describe("a crowd", () => {
  const named = (commands: readonly Command[]) =>
    commands.map((command) => "command_id" in command && command.command_id);

  it("sends what found no room again, in order, a few at a time, and later commands behind them", () => {
    const { socket, wire, stored } = workspace();
    socket.connect();
    wire().onopen?.();
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    const ids = Array.from(
      { length: 2 * THROTTLE_BATCH },
      (_, place) => `command-${String(place)}`,
    );
    for (const id of ids) socket.send(click(id));
    const refuse = (id: string) =>
      wire().receive({
        type: "rejected",
        command_id: id,
        code: "queue_full",
        message: "",
      });
    for (const id of ids) refuse(id);
    expect(stored()).toHaveLength(ids.length);
    const first = wire().acts.length;
    socket.send(click("command-later"));
    expect(wire().acts).toHaveLength(first);
    vi.advanceTimersByTime(THROTTLE_PAUSE_MS);
    expect(named(wire().acts.slice(first))).toEqual(
      ids.slice(0, THROTTLE_BATCH),
    );
    for (const id of ids.slice(0, THROTTLE_BATCH))
      wire().receive({ type: "acknowledged", command_id: id });
    for (const id of ids.slice(THROTTLE_BATCH))
      wire().receive({ type: "acknowledged", command_id: id });
    expect(named(wire().acts.slice(first))).toEqual([...ids, "command-later"]);
    wire().receive({ type: "acknowledged", command_id: "command-later" });
    socket.send(click("command-free"));
    expect(named(wire().acts).at(-1)).toBe("command-free");
  });

  it("waits again where there is still no room", () => {
    const { socket, wire } = workspace();
    socket.connect();
    wire().onopen?.();
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    socket.send(click("command-1"));
    for (let sent = 1; sent <= 3; sent++) {
      expect(wire().acts).toHaveLength(sent);
      wire().receive({
        type: "rejected",
        command_id: "command-1",
        code: "flooding",
        message: "",
      });
      vi.advanceTimersByTime(THROTTLE_PAUSE_MS - 1);
      expect(wire().acts).toHaveLength(sent);
      vi.advanceTimersByTime(1);
    }
  });

  it("forgets what is refused for another reason", () => {
    const { socket, wire, stored } = workspace();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    wire().receive({
      type: "rejected",
      command_id: "command-1",
      code: "off_screen",
      message: "",
    });
    expect(stored()).toEqual([]);
  });
});
