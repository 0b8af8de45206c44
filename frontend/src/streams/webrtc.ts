/** Pixels over WebRTC: one offer, one answer, one video track that is only received. */

import { MEASURE_EVERY, type Connector, type Listener, type Ticket } from "./connector";

export const connectWebRtc: Connector = (host, ticket, listener) => {
  const peer = new RTCPeerConnection({ iceServers: [...(ticket.ice_servers ?? [])] });
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
  negotiate(peer, ticket, abort.signal, () => end("closed by the bridge")).catch((error: unknown) => end(String(error)));
  return stop;
};

/** The offer goes without our candidates: those of the bridge suffice, and it finds ours by being called. */
async function negotiate(peer: RTCPeerConnection, ticket: Ticket, signal: AbortSignal, onClosed: () => void): Promise<void> {
  const { receiver } = peer.addTransceiver("video", { direction: "recvonly" });
  await peer.setLocalDescription(await peer.createOffer());
  const response = await fetch(ticket.url, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ticket: ticket.ticket, sdp: peer.localDescription?.sdp, type: "offer" }),
    signal,
  });
  if (!response.ok) throw new Error(`the bridge answered ${response.status}`);
  await peer.setRemoteDescription((await response.json()) as RTCSessionDescriptionInit);
  // The connection's own state follows a close by the other side only after seconds.
  receiver.transport?.addEventListener("statechange", () => {
    if (receiver.transport?.state === "closed") onClosed();
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
