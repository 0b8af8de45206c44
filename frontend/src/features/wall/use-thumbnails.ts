/** Keeps the small pictures of what is in view coming, over one response a bridge host. */
import { useEffect, useMemo, useState } from "react";

import { readThumbnails } from "@/streams/thumbnails";

import { ticketsFor } from "./api";
import { ThumbnailStore } from "./thumbnail-store";

/** So long the view has to rest before other pictures are asked for (milliseconds). */
const REST_MS = 250;
const RETRY_MS = 3_000;
/** For who wants little motion, a picture stands for so long (milliseconds). */
const CALM_INTERVAL_MS = 10_000;

export const wantsCalm = (): boolean => window.matchMedia("(prefers-reduced-motion: reduce)").matches;

/** `episodes`: those in view that have a picture. While `on` is false, what was shown last stands still. */
export function useThumbnails(episodes: readonly string[], on: boolean): ThumbnailStore {
  const [store] = useState(() => new ThumbnailStore(wantsCalm() ? CALM_INTERVAL_MS : 0));
  const visible = useDocumentVisible();
  const key = useMemo(() => [...episodes].sort().join(","), [episodes]);
  useEffect(() => () => store.clear(), [store]);
  useEffect(() => {
    if (!on || !visible || key === "") return;
    const stop = new AbortController();
    const timer = setTimeout(() => void keepReading(key.split(","), store, stop.signal), REST_MS);
    return () => {
      clearTimeout(timer);
      stop.abort();
    };
  }, [key, on, visible, store]);
  return store;
}

/** Reads again with fresh tickets when every response has ended: machines may have come since, or a bridge come back. */
async function keepReading(episodes: readonly string[], store: ThumbnailStore, signal: AbortSignal): Promise<void> {
  while (!signal.aborted) {
    try {
      const streams = await ticketsFor(episodes);
      const put = (episode: string, picture: Blob | null) => {
        if (!signal.aborted) store.put(episode, picture);
      };
      await Promise.allSettled(streams.map((stream) => readThumbnails(stream, put, signal)));
    } catch {
      // The list says what is wrong with the server; pictures come again with it.
    }
    await new Promise((resume) => setTimeout(resume, RETRY_MS));
  }
}

function useDocumentVisible(): boolean {
  const [visible, setVisible] = useState(document.visibilityState === "visible");
  useEffect(() => {
    const look = () => setVisible(document.visibilityState === "visible");
    document.addEventListener("visibilitychange", look);
    return () => document.removeEventListener("visibilitychange", look);
  }, []);
  return visible;
}
