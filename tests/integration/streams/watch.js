// Opens a stream in the page under test and reads pixels back from the video.
window.watch = async (ticket, { codec, base = "", ...configuration } = {}) => {
  const peer = new RTCPeerConnection({ iceServers: [], ...configuration });
  const transceiver = peer.addTransceiver("video", { direction: "recvonly" });
  transceiver.receiver.jitterBufferTarget = 0;
  if (codec) {
    const known = RTCRtpReceiver.getCapabilities("video").codecs;
    transceiver.setCodecPreferences(known.filter((one) => one.mimeType === codec));
  }
  const video = document.createElement("video");
  Object.assign(video, { muted: true, autoplay: true, playsInline: true });
  // In view: Chromium presents no frames of a video that nobody can see.
  const left = 330 * (window.seen ?? []).length;
  video.style.cssText = `position: fixed; top: 0; left: ${left}px; width: 320px`;
  document.body.append(video);
  const seen = { frames: 0, peer, video };
  peer.ontrack = (event) => (video.srcObject = new MediaStream([event.track]));
  await peer.setLocalDescription(await peer.createOffer());
  const response = await fetch(`${base}/streams/webrtc`, {
    method: "POST",
    headers: { "Content-Type": "application/json" },
    body: JSON.stringify({ ticket, sdp: peer.localDescription.sdp, type: "offer" }),
  });
  const answer = await response.json();
  if (!response.ok) return answer;
  await peer.setRemoteDescription(answer);
  const each = () => {
    seen.frames++;
    video.requestVideoFrameCallback(each);
  };
  video.requestVideoFrameCallback(each);
  (window.seen ??= []).push(seen);
  return { watching: true };
};

window.pixel = (index, x, y) => {
  const { video } = window.seen[index];
  const context = new OffscreenCanvas(video.videoWidth, video.videoHeight).getContext("2d");
  context.drawImage(video, 0, 0);
  return [...context.getImageData(x, y, 1, 1).data.slice(0, 3)];
};

window.inbound = async (index) => {
  const found = {};
  for (const stat of (await window.seen[index].peer.getStats()).values()) {
    if (stat.type === "inbound-rtp") Object.assign(found, { keys: stat.keyFramesDecoded, frames: stat.framesDecoded });
    if (stat.type === "codec") found.codec = stat.mimeType;
  }
  return found;
};

window.via = async (index) => {
  const stats = [...(await window.seen[index].peer.getStats()).values()];
  const pair = stats.find((one) => one.type === "candidate-pair" && one.nominated && one.state === "succeeded");
  return stats.find((one) => one.id === pair?.localCandidateId)?.candidateType ?? null;
};
