/** Streams the small pictures of the sessions in view, over one response for each bridge host. */
import { useDocumentVisibility, useReducedMotion } from "@mantine/hooks";
import { useEffect, useMemo, useState } from "react";

import { readThumbnails } from "@/streams/thumbnails";

import { ticketsFor } from "./api";
import { ThumbnailStore } from "./thumbnail-store";

/** The view rests this long before its pictures are requested (milliseconds). */
const REST_MS = 250;
const RETRY_MS = 3_000;
/** With reduced motion, a picture stays this long (milliseconds). */
const REDUCED_MOTION_INTERVAL_MS = 10_000;

/** `listed`: every session on the page. `episodes`: those in view that have a picture. While `on` is false, the last pictures stay. */
export function useThumbnails(listed: readonly string[], episodes: readonly string[], on: boolean): ThumbnailStore {
  const reducedMotion = useReducedMotion(false, { getInitialValueInEffect: false });
  const [store] = useState(() => new ThumbnailStore(reducedMotion ? REDUCED_MOTION_INTERVAL_MS : 0));
  const visible = useDocumentVisibility() === "visible";
  const key = useMemo(() => [...episodes].sort().join(","), [episodes]);
  useEffect(() => store.keep(new Set(listed)), [listed, store]);
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

/** Reopens a response that ended, with new tickets: its bridge host may be back, or may have new machines. The others stay open. */
async function keepReading(episodes: readonly string[], store: ThumbnailStore, signal: AbortSignal): Promise<void> {
  const reading = new Map<string, Promise<void>>();
  const put = (episode: string, picture: Blob | null) => {
    if (!signal.aborted) store.put(episode, picture);
  };
  while (!signal.aborted) {
    // The page shows that the server does not answer, so a failure here only means another try.
    const streams = await ticketsFor(episodes).catch(() => []);
    for (const stream of streams) {
      if (reading.has(stream.url)) continue;
      const ended = () => void reading.delete(stream.url);
      reading.set(stream.url, readThumbnails(stream, put, signal).then(ended, ended));
    }
    if (reading.size > 0) await Promise.race(reading.values());
    await new Promise((resume) => setTimeout(resume, RETRY_MS));
  }
}
