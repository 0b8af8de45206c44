/* Runs in a page of the benchmark: watches a stream as the desk does. */
(() => {
  const Channel = window.WebSocket; // before the desk's script wraps it: noVNC takes no other

  window.watch = async () => {
    const peer = new RTCPeerConnection({ iceServers: [] });
    const { receiver } = peer.addTransceiver("video", { direction: "recvonly" });
    receiver.jitterBufferTarget = 0;
    const video = document.createElement("video");
    Object.assign(video, { muted: true, autoplay: true, playsInline: true });
    video.style.cssText = "position: fixed; inset: 0; width: 1280px; height: 720px";
    document.body.append(video);
    peer.ontrack = ({ track }) => (video.srcObject = new MediaStream([track]));
    await peer.setLocalDescription(await peer.createOffer());
    const complete = () => peer.iceGatheringState === "complete";
    while (!complete()) await new Promise((resolve) => setTimeout(resolve, 10));
    const response = await fetch("/offer/0", {
      method: "POST",
      headers: { "Content-Type": "application/json" },
      body: JSON.stringify({ sdp: peer.localDescription.sdp, type: "offer" }),
    });
    await peer.setRemoteDescription(await response.json());
    await new Promise((resolve) => video.requestVideoFrameCallback(resolve));
  };

  window.watchVnc = async () => {
    const { default: RFB } = await import("/novnc/core/rfb.js");
    const screen = document.createElement("div");
    screen.style.cssText = "position: fixed; inset: 0; width: 1280px; height: 720px";
    document.body.append(screen);
    const rfb = new RFB(screen, new Channel(`ws://${location.host}/websockify`));
    rfb.viewOnly = true;
    await new Promise((resolve) => rfb.addEventListener("connect", resolve));
  };
})();
