/** A session that lives as long as the component that asked for it. */

import { useEffect, useMemo, useSyncExternalStore } from "react";

import { request, signInAgain } from "@/shared/api/http";

import { browserDraftStore, type DraftStore } from "./drafts";
import { Session, socketUrl, type SessionState } from "./session";

export interface LiveSession extends SessionState {
  readonly session: Session;
  readonly drafts: DraftStore;
}

export function useSession(episodeId: string, userId: number): LiveSession {
  const { session, drafts } = useMemo(() => {
    const drafts = browserDraftStore(userId);
    const session = new Session({
      episodeId,
      url: socketUrl(episodeId),
      fetchSnapshot: () => request("GET", `/episodes/${encodeURIComponent(episodeId)}`),
      drafts,
    });
    return { session, drafts };
  }, [episodeId, userId]);
  useEffect(() => session.start(), [session]);
  const state = useSyncExternalStore(session.subscribe, session.getState);
  useSignInAgain(session, state.connection.phase === "signed_out");
  return { ...state, session, drafts };
}

/** A sign-in that ended is asked for over the page; what waited is sent once the person is back. */
function useSignInAgain(session: Session, signedOut: boolean): void {
  useEffect(() => {
    if (!signedOut) return;
    let here = true;
    signInAgain().then(
      () => {
        if (here) session.reconnect();
      },
      () => undefined,
    );
    return () => {
      here = false;
    };
  }, [session, signedOut]);
}
