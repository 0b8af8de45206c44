/** Pixels as single JPEG pictures over one HTTP response: slow, but it gets through anything. */

import { MEASURE_EVERY, type Connector, type Listener, type Ticket } from "./connector";
import { MultipartReader, type Part } from "./multipart";

export const connectStills: Connector = (host, ticket, listener) => {
  const canvas = document.createElement("canvas");
  host.append(canvas);
  const abort = new AbortController();
  const stop = () => {
    abort.abort();
    canvas.remove();
  };
  show(canvas, ticket, listener, abort.signal).then(
    () => {
      stop();
      listener.onEnd("closed");
    },
    (error: unknown) => {
      if (abort.signal.aborted) return;
      stop();
      listener.onEnd(String(error));
    },
  );
  return stop;
};

async function show(canvas: HTMLCanvasElement, ticket: Ticket, listener: Listener, signal: AbortSignal): Promise<void> {
  const headers = { Authorization: `Bearer ${ticket.ticket}` };
  const response = await fetch(ticket.url, { headers, signal });
  if (!response.ok || response.body === null) throw new Error(`the bridge answered ${response.status}`);
  const parts = new MultipartReader();
  const reader = response.body.getReader();
  let frames = 0;
  let since = performance.now();
  let first = true;
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    const last = parts.push(chunk.value).at(-1);
    if (last === undefined) continue;
    await draw(canvas, last);
    if (first) listener.onPicture(canvas);
    first = false;
    frames += 1;
    const now = performance.now();
    if (now - since >= MEASURE_EVERY) {
      listener.onMeasure({ fps: (frames * 1_000) / (now - since), latency: ageOf(last) });
      frames = 0;
      since = now;
    }
  }
}

async function draw(canvas: HTMLCanvasElement, part: Part): Promise<void> {
  const picture = await createImageBitmap(new Blob([part.body], { type: "image/jpeg" }));
  if (canvas.width !== picture.width || canvas.height !== picture.height) {
    Object.assign(canvas, { width: picture.width, height: picture.height });
  }
  canvas.getContext("2d")?.drawImage(picture, 0, 0);
  picture.close();
}

function ageOf(part: Part): number | null {
  const capturedAt = Number(part.headers.get("x-captured-at"));
  return capturedAt > 0 ? Math.max(0, Date.now() - capturedAt) : null;
}
