// @vitest-environment happy-dom
/** Which way the picture comes: the best that works, and back to it when it works again. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { attach, UPGRADE_EVERY, FIRST_PICTURE_LIMIT, type StreamStatus } from "./attach";
import type { Connector, Listener, StreamKind, Surface } from "./connector";

interface Running {
  readonly kind: StreamKind;
  readonly ticket: string;
  readonly listener: Listener;
  stopped: boolean;
}

function page({ absent = [] }: { absent?: readonly StreamKind[] } = {}) {
  const runs: Running[] = [];
  const statuses: StreamStatus[] = [];
  const surfaces: (Surface | null)[] = [];
  let tickets = 0;
  const refused = new Set<StreamKind>();
  const connector =
    (kind: StreamKind): Connector =>
    (_host, { ticket }, listener) => {
      if (absent.includes(kind)) throw new ReferenceError(`this browser has no ${kind}`);
      const run: Running = { kind, ticket, listener, stopped: false };
      runs.push(run);
      return () => {
        run.stopped = true;
      };
    };
  const detach = attach(document.createElement("div"), {
    ticket: (kind) =>
      refused.has(kind)
        ? Promise.reject(new Error("no ticket"))
        : Promise.resolve({ ticket: `ticket-${++tickets}`, url: "/stream" }),
    connectors: { webrtc: connector("webrtc"), vnc: connector("vnc"), stills: connector("stills") },
    onStatus: (status) => statuses.push(status),
    onSurface: (surface) => surfaces.push(surface),
  });
  const last = () => {
    const run = runs.at(-1);
    if (run === undefined) throw new Error("nothing was tried");
    return run;
  };
  return { runs, refused, detach, last, status: () => statuses.at(-1), surface: () => surfaces.at(-1) };
}

/** Lets promises and pauses of no length pass. */
const settle = () => vi.advanceTimersByTimeAsync(1);
const show = async (run: Running) => {
  run.listener.onPicture(document.createElement("canvas"));
  await settle();
};

beforeEach(() => vi.useFakeTimers());
afterEach(() => vi.useRealTimers());

describe("falling back", () => {
  it("begins with WebRTC and says so once it shows", async () => {
    const { last, status, surface } = page();
    await settle();
    expect(status()).toMatchObject({ phase: "connecting", kind: "webrtc" });
    await show(last());
    last().listener.onMeasure({ fps: 30, latency: 38 });
    expect(status()).toMatchObject({ phase: "live", kind: "webrtc", fps: 30, latency: 38 });
    expect(surface()).toBeInstanceOf(HTMLCanvasElement);
  });

  it("goes down to VNC in a browser without WebRTC", async () => {
    const { runs, status } = page({ absent: ["webrtc"] });
    await settle();
    await settle();
    expect(status()).toMatchObject({ kind: "vnc", problem: "ReferenceError: this browser has no webrtc" });
    expect(runs.map(({ kind }) => kind)).toEqual(["vnc"]);
  });

  it("goes down to VNC and then to stills, each with a ticket of its own", async () => {
    const { runs, last, status } = page();
    await settle();
    last().listener.onEnd("ice failed");
    await settle();
    expect(status()).toMatchObject({ kind: "vnc", problem: "ice failed" });
    last().listener.onEnd("gateway gone");
    await settle();
    expect(last().kind).toBe("stills");
    expect(new Set(runs.map(({ ticket }) => ticket)).size).toBe(3);
  });

  it("gives up a way that shows nothing in time, and stops it", async () => {
    const { runs, last } = page();
    await settle();
    await vi.advanceTimersByTimeAsync(FIRST_PICTURE_LIMIT);
    await settle();
    expect(runs[0]?.stopped).toBe(true);
    expect(last().kind).toBe("vnc");
  });

  it("goes on where a ticket is refused", async () => {
    const { refused, last, detach } = page();
    refused.add("vnc");
    await settle();
    last().listener.onEnd("ice failed");
    await vi.advanceTimersByTimeAsync(10);
    expect(last().kind).toBe("stills");
    detach();
  });

  it("begins at the top again, after a pause, when every way failed", async () => {
    const { runs, last } = page();
    await settle();
    for (let round = 0; round < 6; round += 1) {
      last().listener.onEnd("down");
      await settle();
    }
    const before = runs.length;
    await vi.advanceTimersByTimeAsync(10_000);
    expect(runs.length).toBeGreaterThan(before);
    expect(runs[before]?.kind).toBe("webrtc");
  });
});

describe("staying alive", () => {
  it("tries the same way again when a live picture is lost", async () => {
    const { last, runs, surface } = page();
    await settle();
    await show(last());
    last().listener.onEnd("connection lost");
    expect(surface()).toBeNull();
    await settle();
    expect(runs.map(({ kind }) => kind)).toEqual(["webrtc", "webrtc"]);
  });

  it("climbs back to WebRTC beside the running picture, and gives that up only once the better one shows", async () => {
    const { runs, last, status } = page();
    await settle();
    last().listener.onEnd("ice failed");
    await settle();
    const vnc = last();
    await show(vnc);
    await vi.advanceTimersByTimeAsync(UPGRADE_EVERY);
    const upgrade = last();
    expect(upgrade.kind).toBe("webrtc");
    expect(vnc.stopped).toBe(false);
    await show(upgrade);
    expect(vnc.stopped).toBe(true);
    expect(status()).toMatchObject({ phase: "live", kind: "webrtc" });
    expect(runs).toHaveLength(3);
  });

  it("keeps the lower way when the climb fails", async () => {
    const { last, status } = page();
    await settle();
    last().listener.onEnd("ice failed");
    await settle();
    const vnc = last();
    await show(vnc);
    await vi.advanceTimersByTimeAsync(UPGRADE_EVERY);
    last().listener.onEnd("ice failed");
    await settle();
    expect(vnc.stopped).toBe(false);
    expect(status()).toMatchObject({ phase: "live", kind: "vnc" });
  });

  it("stops everything when it is detached", async () => {
    const { runs, detach, last, surface } = page();
    await settle();
    await show(last());
    detach();
    await vi.advanceTimersByTimeAsync(UPGRADE_EVERY * 2);
    expect(runs).toHaveLength(1);
    expect(runs[0]?.stopped).toBe(true);
    expect(surface()).toBeNull();
  });
});
