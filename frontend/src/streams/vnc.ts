/** Pixels over RFB: noVNC in view-only mode; the gateway drops input as well. */

import RFB from "@novnc/novnc";

import { MEASURE_EVERY, type Connector } from "./connector";

export const connectVnc: Connector = (host, ticket, listener) => {
  const target = document.createElement("div");
  host.append(target);
  const socket = new WebSocket(withToken(ticket.url, ticket.ticket));
  const rfb = new RFB(target, socket, { shared: true });
  Object.assign(rfb, { viewOnly: true, scaleViewport: true, qualityLevel: 8, compressionLevel: 1, background: "transparent" });
  let updates = 0;
  let since = performance.now();
  let ended = false;

  socket.addEventListener("message", () => {
    updates += 1;
  });
  const timer = setInterval(() => {
    const now = performance.now();
    listener.onMeasure({ fps: (updates * 1_000) / (now - since), latency: null });
    updates = 0;
    since = now;
  }, MEASURE_EVERY);
  const stop = () => {
    if (ended) return;
    ended = true;
    clearInterval(timer);
    rfb.disconnect();
    target.remove();
  };
  rfb.addEventListener("connect", () => {
    const canvas = target.querySelector("canvas");
    if (canvas !== null) listener.onPicture(canvas);
  });
  rfb.addEventListener("disconnect", (event) => {
    if (ended) return;
    stop();
    listener.onEnd(event.detail.clean ? "closed" : "connection lost");
  });
  return stop;
};

function withToken(url: string, token: string): string {
  const address = new URL(url, window.location.href);
  if (!address.searchParams.has("token")) address.searchParams.set("token", token);
  return address.href;
}
