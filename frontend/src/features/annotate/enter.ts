/** What Enter does right now; pure. */

import type { EpisodeState, Proposal } from "@/generated/vocabulary";
import type { Connection } from "@/session/socket";

import type { Composed } from "./composer";

export type Enter =
  /** The composed step, as far as it is one. */
  | { readonly does: "step" }
  | { readonly does: "accept"; readonly proposal: Proposal }
  /** The page has ended: the task is finished as a success, and the next one is claimed. */
  | { readonly does: "finish" }
  /** The time is over: the person is asked how it ended. */
  | { readonly does: "finish_ask" }
  /** `past`: another screen is looked at. `sending`: a step waits for the connection. */
  | { readonly does: "nothing"; readonly why: "past" | "sending" | "none" };

interface Situation {
  readonly episode: EpisodeState;
  readonly composed: Composed;
  readonly connection: Connection;
  readonly canAct: boolean;
  readonly viewedStep: number | null;
}

export function enterOf({ episode, composed, connection, canAct, viewedStep }: Situation): Enter {
  if (!canAct) return { does: "nothing", why: "none" };
  if (viewedStep !== null) return { does: "nothing", why: "past" };
  if (isSending(connection)) return { does: "nothing", why: "sending" };
  if (composed.ok || composed.reason !== "empty") return { does: "step" };
  const page = episode.observation?.page;
  if (page?.done === true) return { does: "finish" };
  if (page?.truncated === true) return { does: "finish_ask" };
  return acceptFirst(episode);
}

function acceptFirst(episode: EpisodeState): Enter {
  const proposal = episode.proposals.find(({ action }) => action !== null);
  return proposal === undefined ? { does: "nothing", why: "none" } : { does: "accept", proposal };
}

/** Whether a step was given that could not be sent yet. */
function isSending({ phase, waiting }: Connection): boolean {
  return phase !== "online" && waiting.some(({ command }) => command.type === "accept" || command.type === "act" || command.type === "finish");
}
