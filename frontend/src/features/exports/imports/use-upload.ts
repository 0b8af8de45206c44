/** One upload of this page: begun, paused, resumed, cancelled, with its speed. */
import { useQueryClient } from "@tanstack/react-query";
import { useCallback, useEffect, useRef, useState } from "react";

import type { UploadOut } from "@/generated/api";

import { cancelUpload, importsQuery, uploadsQuery } from "./api";
import { createUpload, isUploadOf, sendUpload, type Progress } from "./upload";

/** Over how long the speed is measured (ms). */
const SPEED_WINDOW_MS = 5_000;

export type Upload = Progress & {
  readonly file: File;
  readonly pool: string;
  readonly phase: "sending" | "paused" | "failed";
  /** Bytes a second; null until it is known. */
  readonly speed: number | null;
  readonly error: Error | null;
};

export function useUpload() {
  const client = useQueryClient();
  const [upload, setUpload] = useState<Upload | null>(null);
  const running = useRef<AbortController | null>(null);
  const announced = useRef<UploadOut | null>(null);

  useEffect(() => () => running.current?.abort(), []);

  const refresh = useCallback(() => {
    void client.invalidateQueries({ queryKey: uploadsQuery.queryKey });
    void client.invalidateQueries({ queryKey: importsQuery.queryKey });
  }, [client]);

  /** Send a file; an unfinished upload of the very file is resumed. */
  const send = useCallback(
    async (file: File, pool: string) => {
      const controller = new AbortController();
      running.current = controller;
      const speed = makeSpeedMeter();
      const base = { file, pool, phase: "sending", sent: 0, problem: null, speed: null, error: null } as const;
      setUpload((before) => ({ ...base, sent: before?.file === file ? before.sent : 0 }));
      try {
        const open = await client.query({ ...uploadsQuery, staleTime: 0 });
        announced.current = open.find((one) => isUploadOf(one, file)) ?? (await createUpload(file, pool));
        controller.signal.throwIfAborted(); // cancelled or paused meanwhile
        await sendUpload(file, pool, announced.current, controller.signal, (progress) =>
          setUpload({ ...base, ...progress, speed: speed(progress.sent, performance.now()) }),
        );
        announced.current = null;
        setUpload(null);
      } catch (error) {
        const phase = controller.signal.aborted ? "paused" : "failed";
        setUpload((before) => before && { ...before, phase, problem: null, speed: null, error: phase === "failed" ? (error as Error) : null });
      } finally {
        refresh();
      }
    },
    [client, refresh],
  );

  const pause = useCallback(() => running.current?.abort(), []);

  const cancel = useCallback(async () => {
    running.current?.abort();
    if (announced.current) await cancelUpload(announced.current.id);
    announced.current = null;
    setUpload(null);
    refresh();
  }, [refresh]);

  return { upload, send, pause, cancel };
}

/** Bytes a second over the last seconds. Exported for its test. */
export function makeSpeedMeter(): (sent: number, now: number) => number | null {
  const samples: { readonly sent: number; readonly now: number }[] = [];
  return (sent, now) => {
    samples.push({ sent, now });
    while (samples.length > 2 && now - (samples[1]?.now ?? now) > SPEED_WINDOW_MS) samples.shift();
    const first = samples[0];
    return first && now > first.now ? ((sent - first.sent) * 1_000) / (now - first.now) : null;
  };
}
