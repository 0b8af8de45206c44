/** Pixels over WebRTC: one offer, one answer, one video track that is only received. */

import { MEASURE_EVERY, type Connector, type Listener, type Ticket } from "./connector";

/** A gathering that waits longer for host candidates than this (milliseconds) goes on with what it has. */
const GATHERING_LIMIT = 1_000;

export const connectWebRtc: Connector = (host, ticket, listener) => {
  const peer = new RTCPeerConnection({ iceServers: [] });
  const video = document.createElement("video");
  Object.assign(video, { muted: true, autoplay: true, playsInline: true, disablePictureInPicture: true });
  host.append(video);
  const abort = new AbortController();
  let ended = false;

  const stop = () => {
    ended = true;
    abort.abort();
    peer.close();
    clearInterval(timer);
    video.srcObject = null;
    video.remove();
  };
  const end = (reason: string) => {
    if (ended) return;
    stop();
    listener.onEnd(reason);
  };

  const meter = watchFrames(video, listener);
  const timer = setInterval(() => {
    roundTrip(peer).then(
      (rtt) => {
        if (!ended) listener.onMeasure(meter(rtt));
      },
      () => undefined,
    );
  }, MEASURE_EVERY);
  peer.ontrack = ({ track, receiver }) => {
    receiver.jitterBufferTarget = 0;
    track.onended = () => end("track ended");
    video.srcObject = new MediaStream([track]);
    video.play().catch((error: unknown) => end(String(error)));
  };
  peer.onconnectionstatechange = () => {
    if (peer.connectionState === "failed" || peer.connectionState === "closed") end(peer.connectionState);
  };
  negotiate(peer, ticket, abort.signal).catch((error: unknown) => end(String(error)));
  return stop;
};

async function negotiate(peer: RTCPeerConnection, ticket: Ticket, signal: AbortSignal): Promise<void> {
  peer.addTransceiver("video", { direction: "recvonly" });
  await peer.setLocalDescription(await peer.createOffer());
  await gathered(peer);
  const response = await fetch(ticket.url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ticket: ticket.ticket, sdp: peer.localDescription?.sdp, type: "offer" }),
    signal,
  });
  if (!response.ok) throw new Error(`the bridge answered ${response.status}`);
  await peer.setRemoteDescription((await response.json()) as RTCSessionDescriptionInit);
}

function gathered(peer: RTCPeerConnection): Promise<void> {
  return new Promise((resolve) => {
    const done = () => {
      if (peer.iceGatheringState === "complete") resolve();
    };
    peer.onicegatheringstatechange = done;
    setTimeout(resolve, GATHERING_LIMIT);
    done();
  });
}

/** Counts frames as they are shown; the function returned gives the measure since it was last asked. */
function watchFrames(video: HTMLVideoElement, listener: Listener): (rtt: number | null) => Measure {
  let frames = 0;
  let delay: number | null = null;
  let since = performance.now();
  // Not `expectedDisplayTime`: where frames are rare it is off by seconds, either way.
  const onFrame: VideoFrameRequestCallback = (now, frame) => {
    if (frames === 0 && delay === null) listener.onPicture(video);
    frames += 1;
    delay = Math.max(0, now - (frame.receiveTime ?? frame.presentationTime));
    video.requestVideoFrameCallback(onFrame);
  };
  video.requestVideoFrameCallback(onFrame);
  return (rtt) => {
    const now = performance.now();
    const fps = (frames * 1_000) / (now - since);
    frames = 0;
    since = now;
    return { fps, latency: delay === null || rtt === null ? null : rtt / 2 + delay };
  };
}

type Measure = Parameters<Listener["onMeasure"]>[0];

/** The network's round trip (milliseconds) of the connection in use. */
async function roundTrip(peer: RTCPeerConnection): Promise<number | null> {
  for (const report of (await peer.getStats()).values() as Iterable<RTCIceCandidatePairStats>) {
    if (report.type === "candidate-pair" && report.nominated && report.currentRoundTripTime !== undefined) {
      return report.currentRoundTripTime * 1_000;
    }
  }
  return null;
}
