/** Small pictures of many machines, over one HTTP response a bridge host. */
import type { WallStream } from "@/generated/api";

import { MultipartReader } from "./multipart";

/** A new picture of an episode's machine; null where the machine is gone. */
export type OnThumbnail = (episode: string, picture: Blob | null) => void;

/** Reads until the response ends, or `signal` does. Rejects where the bridge refuses, or the connection breaks. */
export async function readThumbnails({ url, tickets }: WallStream, onThumbnail: OnThumbnail, signal: AbortSignal): Promise<void> {
  const headers = { "Content-Type": "application/json" };
  const response = await fetch(url, { method: "POST", headers, body: JSON.stringify({ tickets }), signal });
  if (!response.ok || response.body === null) throw new Error(`the bridge answered ${response.status}`);
  const parts = new MultipartReader();
  const reader = response.body.getReader();
  for (let chunk = await reader.read(); !chunk.done; chunk = await reader.read()) {
    for (const { headers: about, body } of parts.push(chunk.value)) {
      const episode = about.get("x-episode");
      if (episode) onThumbnail(episode, body.length > 0 ? new Blob([body], { type: "image/jpeg" }) : null);
    }
  }
}
