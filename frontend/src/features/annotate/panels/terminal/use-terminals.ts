/** The live terminal sessions of an episode's machine, as long as somebody looks. */
import { useEffect, useState } from "react";

import { request } from "@/shared/api/http";
import { connectTerminals } from "@/streams/terminal";

import type { Screens } from "./screens";

export interface Terminals {
  readonly screens: Screens | null;
  /** Sessions that were heard of. */
  readonly sessions: readonly string[];
  readonly phase: "connecting" | "live";
  readonly problem: string;
}

const NONE: Terminals = { screens: null, sessions: [], phase: "connecting", problem: "" };

export function useTerminals(episodeId: string, on: boolean): Terminals {
  const [state, setState] = useState(NONE);
  useEffect(() => {
    if (!on) return;
    let stop: (() => void) | null = null;
    let here = true;
    void import("./screens").then(({ makeScreens }) => {
      if (!here) return;
      const screens = makeScreens();
      const set = (change: Partial<Terminals>) => setState((before) => ({ ...before, ...change }));
      set({ screens });
      const disconnect = connectTerminals({
        ticket: () => request("POST", `/episodes/${encodeURIComponent(episodeId)}/tickets`, { kind: "terminal" }),
        listener: {
          onFrame: (frame) => {
            screens.write(frame);
            setState((before) => (before.sessions.includes(frame.session) ? before : { ...before, sessions: [...before.sessions, frame.session] }));
          },
          onPhase: (phase, problem) => set({ phase, problem }),
        },
      });
      stop = () => {
        disconnect();
        screens.dispose();
      };
    });
    return () => {
      here = false;
      stop?.();
      setState(NONE);
    };
  }, [episodeId, on]);
  return state;
}
