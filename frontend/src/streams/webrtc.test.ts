// @vitest-environment jsdom -- happy-dom takes no MediaStream of a test
/** The WebRTC connector against a peer connection of the test's own: what it offers, shows, measures, and when it ends. */
import { afterEach, beforeEach, describe, expect, it, vi } from "vitest";

import { MEASURE_EVERY, type Measure, type Surface, type Ticket } from "./connector";
import { connectWebRtc } from "./webrtc";

const RTT_SECONDS = 0.02;

class Transport extends EventTarget {
  state = "new";
}

/** What a browser's peer connection does, as far as the connector asks for it. */
class Peer {
  static made: Peer[] = [];
  connectionState = "new";
  localDescription: { sdp: string } | null = null;
  remote: unknown = null;
  closed = false;
  ontrack: ((event: { track: { onended?: () => void }; receiver: object }) => void) | null = null;
  onconnectionstatechange: (() => void) | null = null;
  readonly receiver = { transport: new Transport(), jitterBufferTarget: null as number | null };

  constructor(readonly configuration: RTCConfiguration) {
    Peer.made.push(this);
  }
  addTransceiver(kind: string, init: RTCRtpTransceiverInit) {
    expect([kind, init.direction]).toEqual(["video", "recvonly"]);
    return { receiver: this.receiver };
  }
  createOffer() {
    return Promise.resolve({ type: "offer", sdp: "our offer" });
  }
  setLocalDescription(description: { sdp: string }) {
    this.localDescription = description;
    return Promise.resolve();
  }
  setRemoteDescription(description: unknown) {
    this.remote = description;
    return Promise.resolve();
  }
  getStats() {
    return Promise.resolve(new Map([["1", { type: "candidate-pair", nominated: true, currentRoundTripTime: RTT_SECONDS }]]));
  }
  close() {
    this.closed = true;
  }
}

/** Frames are shown when the test says so. */
let presentFrame: VideoFrameRequestCallback | null = null;

function start(ticket: Partial<Ticket> = {}) {
  const host = document.createElement("div");
  const received = { pictures: [] as Surface[], measures: [] as Measure[], ends: [] as string[] };
  const stop = connectWebRtc(
    host,
    { ticket: "once", url: "https://bridge.example/streams/webrtc", ...ticket },
    {
      onPicture: (surface) => received.pictures.push(surface),
      onMeasure: (measure) => received.measures.push(measure),
      onEnd: (reason) => received.ends.push(reason),
    },
  );
  const peer = Peer.made.at(-1);
  if (!peer) throw new Error("no peer connection was made");
  return { host, received, stop, peer };
}

const answer = (status: number, body: unknown) => vi.fn(() => Promise.resolve(new Response(JSON.stringify(body), { status })));

beforeEach(() => {
  vi.useFakeTimers();
  Peer.made = [];
  vi.stubGlobal("RTCPeerConnection", Peer);
  vi.stubGlobal("MediaStream", EventTarget);
  vi.stubGlobal("fetch", answer(200, { type: "answer", sdp: "their answer" }));
  HTMLVideoElement.prototype.requestVideoFrameCallback = (callback) => {
    presentFrame = callback;
    return 1;
  };
  HTMLVideoElement.prototype.play = () => Promise.resolve();
});

afterEach(() => {
  vi.useRealTimers();
  vi.unstubAllGlobals();
});

describe("connectWebRtc", () => {
  it("offers with its ticket and takes the answer", async () => {
    const { peer } = start();
    await vi.advanceTimersByTimeAsync(0);
    const [url, init] = vi.mocked(fetch).mock.calls[0] ?? [];
    expect(url).toBe("https://bridge.example/streams/webrtc");
    expect(JSON.parse(init?.body as string)).toEqual({ ticket: "once", sdp: "our offer", type: "offer" });
    expect(peer.remote).toEqual({ type: "answer", sdp: "their answer" });
  });

  it("asks no server that it was not told of", () => {
    expect(start().peer.configuration.iceServers).toEqual([]);
    const relay = { urls: ["turn:relay.example"], username: "1:ada", credential: "secret" };
    expect(start({ ice_servers: [relay] }).peer.configuration.iceServers).toEqual([relay]);
  });

  it("shows the track without holding it back, and tells of the first picture once", async () => {
    const { host, received, peer } = start();
    peer.ontrack?.({ track: {}, receiver: peer.receiver });
    expect(peer.receiver.jitterBufferTarget).toBe(0);
    for (const now of [10, 43]) presentFrame?.(now, { receiveTime: now - 5, presentationTime: now } as VideoFrameCallbackMetadata);
    expect(received.pictures).toEqual([host.querySelector("video")]);
    await vi.advanceTimersByTimeAsync(MEASURE_EVERY);
    expect(received.measures[0]?.fps).toBeCloseTo(2, 0);
    expect(received.measures[0]?.latency).toBeCloseTo((RTT_SECONDS * 1_000) / 2 + 5);
  });

  it.each([
    [
      "the bridge refuses",
      () => {
        vi.stubGlobal("fetch", answer(403, { code: "ticket_refused" }));
        return Promise.resolve(start());
      },
    ],
    [
      "the bridge closes the transport",
      async () => {
        const started = start();
        await vi.advanceTimersByTimeAsync(0);
        started.peer.receiver.transport.state = "closed";
        started.peer.receiver.transport.dispatchEvent(new Event("statechange"));
        return started;
      },
    ],
    [
      "the connection fails",
      () => {
        const started = start();
        started.peer.connectionState = "failed";
        started.peer.onconnectionstatechange?.();
        return Promise.resolve(started);
      },
    ],
  ])("ends once and leaves nothing when %s", async (_, go) => {
    const { host, received, peer } = await go();
    await vi.advanceTimersByTimeAsync(MEASURE_EVERY * 2);
    expect(received.ends).toHaveLength(1);
    expect(peer.closed).toBe(true);
    expect(host.children).toHaveLength(0);
    expect(received.measures).toEqual([]);
  });

  it("says nothing more once it is stopped", async () => {
    const { host, received, peer, stop } = start();
    stop();
    peer.connectionState = "closed";
    peer.onconnectionstatechange?.();
    await vi.advanceTimersByTimeAsync(MEASURE_EVERY * 2);
    expect(received).toEqual({ pictures: [], measures: [], ends: [] });
    expect(host.children).toHaveLength(0);
  });
});
