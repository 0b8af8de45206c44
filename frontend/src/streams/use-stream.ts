/** A live picture in an element of the page, and how it fares. */
import { useEffect, useRef, useState, type RefObject } from "react";

import { request } from "@/shared/api/http";

import { attach, type StreamStatus } from "./attach";
import type { Connector, StreamKind, Surface } from "./connector";
import { connectStills } from "./stills";
import { connectWebRtc } from "./webrtc";

/** noVNC is large and rarely needed: it is loaded when WebRTC failed. */
const connectVncLazily: Connector = (host, ticket, listener) => {
  let stop: (() => void) | null = null;
  let stopped = false;
  import("./vnc").then(
    ({ connectVnc }) => {
      if (!stopped) stop = connectVnc(host, ticket, listener);
    },
    (error: unknown) => listener.onEnd(String(error)),
  );
  return () => {
    stopped = true;
    stop?.();
  };
};

const CONNECTORS: Readonly<Record<StreamKind, Connector>> = {
  webrtc: connectWebRtc,
  vnc: connectVncLazily,
  stills: connectStills,
};

export interface LiveStream {
  readonly hostRef: RefObject<HTMLDivElement | null>;
  readonly surface: Surface | null;
  readonly status: StreamStatus | null;
}

/** Runs while `on`, with tickets of `owner`: the API's path of an episode or a machine. */
export function useStream(owner: `/episodes/${string}` | `/fleet/machines/${string}`, on: boolean): LiveStream {
  const hostRef = useRef<HTMLDivElement>(null);
  const [surface, setSurface] = useState<Surface | null>(null);
  const [status, setStatus] = useState<StreamStatus | null>(null);
  useEffect(() => {
    if (!on || hostRef.current === null) return;
    const ticket = (kind: StreamKind) => request("POST", `${owner}/tickets`, { kind });
    const detach = attach(hostRef.current, { ticket, connectors: CONNECTORS, onStatus: setStatus, onSurface: setSurface });
    return () => {
      detach();
      setStatus(null);
    };
  }, [owner, on]);
  return { hostRef, surface, status };
}
