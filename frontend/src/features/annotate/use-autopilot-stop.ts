/** Escape stops the autopilot, wherever the focus and the pointer are, before anything else on the page sees the key. */
import { useEffect } from "react";

import type { Workspace } from "./use-workspace";

export function useAutopilotStop({ episode, canAct, send, viewportRef }: Workspace): void {
  const running = episode.autopilot && canAct;
  useEffect(() => {
    if (!running) return;
    // Keys in a preview's frame never reach this page.
    if (document.activeElement instanceof HTMLIFrameElement) viewportRef.current?.focus({ preventScroll: true });
    const stop = (event: KeyboardEvent) => {
      if (event.key !== "Escape") return;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (!event.repeat) send({ type: "autopilot", on: false });
    };
    window.addEventListener("keydown", stop, true);
    return () => window.removeEventListener("keydown", stop, true);
  }, [running, send, viewportRef]);
}
