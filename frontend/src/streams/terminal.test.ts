// @vitest-environment happy-dom
/** Frames are read as they are sent, and a lost connection comes back with a fresh ticket. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { connectTerminals, frameOf, socketAddress, type TerminalFrame } from "./terminal";

const FRAME = JSON.stringify({ session: "main", data: btoa("$ ls\r\n"), cols: 80, rows: 24 });

/** A socket nobody is behind; the test speaks for the bridge. */
class Line {
  static opened: Line[] = [];
  onopen: (() => void) | null = null;
  onmessage: ((message: { data: unknown }) => void) | null = null;
  onclose: ((reason: { reason: string }) => void) | null = null;
  closed = false;

  constructor(readonly url: string) {
    Line.opened.push(this);
  }

  close() {
    this.closed = true;
  }
}

beforeEach(() => {
  Line.opened = [];
  vi.useFakeTimers();
});
afterEach(() => vi.useRealTimers());

function watch() {
  const frames: TerminalFrame[] = [];
  const phases: string[] = [];
  let tickets = 0;
  const stop = connectTerminals({
    ticket: () => Promise.resolve({ ticket: `t${++tickets}`, url: "http://bridge:1/streams/terminal" }),
    listener: { onFrame: (frame) => frames.push(frame), onPhase: (phase, reason) => phases.push(`${phase} ${reason}`.trim()) },
    open: (url) => new Line(url) as unknown as WebSocket,
  });
  return { frames, phases, stop };
}

describe("frames", () => {
  it("hold bytes, of which a character may be cut in two", () => {
    const text = JSON.stringify({ session: "main", data: btoa("\xe4\xbd"), cols: 80, rows: 24 });
    expect(frameOf(text)).toEqual({ session: "main", data: Uint8Array.of(0xe4, 0xbd), cols: 80, rows: 24 });
  });

  it("are not made of anything else", () => {
    expect(frameOf(JSON.stringify({ kind: "news" }))).toBeNull();
  });
});

describe("the connection", () => {
  it("goes where the ticket says, as a socket", () => {
    expect(socketAddress({ url: "https://bridge/streams/terminal", ticket: "a+b" })).toBe("wss://bridge/streams/terminal?token=a%2Bb");
  });

  it("shows what comes, and comes back with another ticket", async () => {
    const { frames, phases, stop } = watch();
    await vi.runAllTimersAsync();
    const [first] = Line.opened;
    first?.onopen?.();
    first?.onmessage?.({ data: FRAME });
    first?.onclose?.({ reason: "gone" });
    await vi.runAllTimersAsync();
    expect(Line.opened.map(({ url }) => new URL(url).searchParams.get("token"))).toEqual(["t1", "t2"]);
    expect(frames).toHaveLength(1);
    expect(phases).toEqual(["connecting", "live", "connecting gone"]);
    stop();
    expect(Line.opened[1]?.closed).toBe(true);
  });

  it("asks for nothing more once it was ended", async () => {
    const { stop } = watch();
    await vi.runAllTimersAsync();
    stop();
    Line.opened[0]?.onclose?.({ reason: "" });
    await vi.runAllTimersAsync();
    expect(Line.opened).toHaveLength(1);
  });
});
