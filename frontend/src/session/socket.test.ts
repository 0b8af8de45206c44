/** One socket, whatever the network does: nothing is lost, nothing is sent to the wrong screen. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import type { Command, Event } from "@/generated/vocabulary";

import { CAPACITY, FRESH_FOR, type Identified, type Outbox } from "./outbox";
import {
  CROWDED_PAUSE,
  CROWDED_WINDOW,
  EpisodeSocket,
  PING_EVERY,
  RESEND_AFTER,
  SILENCE_LIMIT,
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

const click = (id: string): Identified => ({
  type: "act",
  command_id: id,
  action: { kind: "click", x: 1, y: 2 },
  thought: "",
  proposal_id: null,
});

function desk(outbox: Outbox = []) {
  const wires: FakeWire[] = [];
  const seen: Connection[] = [];
  let kept: Outbox = [];
  const socket = new EpisodeSocket({
    url: "/ws/",
    open: () => {
      const wire = new FakeWire();
      wires.push(wire);
      return wire;
    },
    onEvent: () => undefined,
    onConnection: (connection) => seen.push(connection),
    onOutbox: (entries) => (kept = entries),
    outbox,
  });
  const wire = () => {
    const last = wires.at(-1);
    if (last === undefined) throw new Error("never connected");
    return last;
  };
  return { socket, wires, wire, last: () => seen.at(-1), kept: () => kept };
}

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("resending", () => {
  it("sends what was not answered again, under the same id, after a reconnect", () => {
    const { socket, wires, wire } = desk();
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

  it("sends it again when control comes back, as after its runner broke", () => {
    const { socket, wire } = desk();
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
    const { socket, wire } = desk();
    socket.connect();
    wire().onopen?.();
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    socket.send(click("command-1"));
    const pass = (milliseconds: number) => {
      for (let passed = 0; passed < milliseconds; passed += PING_EVERY) {
        vi.advanceTimersByTime(PING_EVERY);
        wire().receive({ type: "pong", at: 0, version: 0 });
      }
    };
    pass(RESEND_AFTER - PING_EVERY);
    expect(wire().acts).toHaveLength(1);
    pass(PING_EVERY);
    expect(wire().acts).toHaveLength(2);
    wire().receive({ type: "control.changed", control: "other", holder: "" });
    pass(2 * RESEND_AFTER);
    expect(wire().acts).toHaveLength(2);
  });

  it("keeps what is refused while control is elsewhere, and sends it when control comes back", () => {
    const { socket, wire, kept } = desk();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    wire().receive({ type: "rejected", command_id: "command-1", code: "view_only", message: "" });
    expect(kept()).toHaveLength(1);
    expect(wire().acts).toHaveLength(1);
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    expect(wire().acts).toEqual([click("command-1"), click("command-1")]);
    wire().receive({ type: "acknowledged", command_id: "command-1" });
    expect(kept()).toEqual([]);
  });

  it("never sends again unasked what has grown old", () => {
    const { socket, wire } = desk();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    for (let passed = 0; passed <= FRESH_FOR; passed += PING_EVERY) {
      vi.advanceTimersByTime(PING_EVERY);
      wire().receive({ type: "pong", at: 0, version: 0 });
    }
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    expect(wire().acts).toHaveLength(1);
  });

  it("keeps what is given while offline and sends it in order", () => {
    const { socket, wire, last, kept } = desk();
    socket.connect();
    socket.send(click("command-1"));
    socket.send(click("command-2"));
    expect(wire().sent).toEqual([]);
    expect(kept()).toHaveLength(2);
    wire().onopen?.();
    expect(wire().acts.map((command) => "command_id" in command && command.command_id)).toEqual(["command-1", "command-2"]);
    expect(last()?.phase).toBe("online");
  });

  it("asks before sending what was meant for a screen long gone", () => {
    const { socket, wire, last } = desk([{ command: click("command-1"), at: Date.now() - FRESH_FOR }]);
    socket.connect();
    wire().onopen?.();
    expect(wire().acts).toEqual([]);
    expect(last()?.held).toHaveLength(1);
    socket.decideHeld("send");
    expect(wire().acts).toHaveLength(1);
    expect(last()?.held).toEqual([]);
  });

  it("forgets a command whose step the server has", () => {
    const { socket, wire, last } = desk();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    const step = { command_id: "command-1" };
    wire().receive({ type: "step.added", version: 1, step } as Event);
    expect(last()?.waiting).toEqual([]);
  });

  it("refuses a command when the outbox is full, and keeps the others", () => {
    const { socket, kept } = desk();
    for (let count = 0; count < CAPACITY; count += 1) expect(socket.send(click(`command-${count}`))).toBe(true);
    expect(socket.send(click("one-too-many"))).toBe(false);
    expect(kept()).toHaveLength(CAPACITY);
  });
});

describe("reconnecting", () => {
  it("waits longer each time, within bounds", () => {
    const { socket, wire, wires, last } = desk();
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
    const { socket, wire, wires, last } = desk();
    socket.connect();
    wire().onclose?.({ code });
    vi.advanceTimersByTime(60_000);
    expect(last()?.phase).toBe(phase);
    expect(wires).toHaveLength(1);
  });

  it("takes silence for a dead connection", () => {
    const { socket, wire, wires } = desk();
    socket.connect();
    wire().onopen?.();
    vi.advanceTimersByTime(SILENCE_LIMIT);
    expect(wires).toHaveLength(1);
    vi.advanceTimersByTime(PING_EVERY + 1_000);
    expect(wires).toHaveLength(2);
  });

  it("measures the round trip", () => {
    const { socket, wire, last } = desk();
    socket.connect();
    wire().onopen?.();
    const at = Date.now();
    vi.advanceTimersByTime(42);
    wire().receive({ type: "pong", at, version: 0 });
    expect(last()?.latency).toBe(42);
  });

  it("does nothing by itself once closed, and can begin anew", () => {
    const { socket, wires } = desk();
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
    const { socket, wire, kept } = desk();
    socket.connect();
    wire().onopen?.();
    wire().receive({ type: "control.changed", control: "mine", holder: "ada" });
    const ids = Array.from(
      { length: 2 * CROWDED_WINDOW },
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
    expect(kept()).toHaveLength(ids.length);
    const first = wire().acts.length;
    socket.send(click("command-later"));
    expect(wire().acts).toHaveLength(first);
    vi.advanceTimersByTime(CROWDED_PAUSE);
    expect(named(wire().acts.slice(first))).toEqual(
      ids.slice(0, CROWDED_WINDOW),
    );
    for (const id of ids.slice(0, CROWDED_WINDOW))
      wire().receive({ type: "acknowledged", command_id: id });
    for (const id of ids.slice(CROWDED_WINDOW))
      wire().receive({ type: "acknowledged", command_id: id });
    expect(named(wire().acts.slice(first))).toEqual([...ids, "command-later"]);
    wire().receive({ type: "acknowledged", command_id: "command-later" });
    socket.send(click("command-free"));
    expect(named(wire().acts).at(-1)).toBe("command-free");
  });

  it("waits again where there is still no room", () => {
    const { socket, wire } = desk();
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
      vi.advanceTimersByTime(CROWDED_PAUSE - 1);
      expect(wire().acts).toHaveLength(sent);
      vi.advanceTimersByTime(1);
    }
  });

  it("forgets what is refused for another reason", () => {
    const { socket, wire, kept } = desk();
    socket.connect();
    wire().onopen?.();
    socket.send(click("command-1"));
    wire().receive({
      type: "rejected",
      command_id: "command-1",
      code: "off_screen",
      message: "",
    });
    expect(kept()).toEqual([]);
  });
});
