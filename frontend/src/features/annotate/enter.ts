/** What Enter does right now; pure. */

import type { EpisodeState, Proposal } from "@/generated/vocabulary";
import type { Connection } from "@/session/socket";

import type { Composed } from "./composer";

export type Enter =
  /** The composed step, as far as it is one. */
  | { readonly does: "step" }
  | { readonly does: "accept"; readonly proposal: Proposal }
  /** The candidate says that the task is done: it is accepted, which finishes, and the next task is claimed. */
  | { readonly does: "accept_end"; readonly proposal: Proposal }
  /** The page has ended: the task is finished as a success, and the next one is claimed. */
  | { readonly does: "finish" }
  /** The time is over: the person is asked how it ended. */
  | { readonly does: "finish_ask" }
  /** `past`: another screen is looked at. `sending`: a step waits for the connection. `takeover`: pointer and keys are the machine's. */
  | { readonly does: "nothing"; readonly why: "past" | "sending" | "takeover" | "none" };

interface Situation {
  readonly episode: EpisodeState;
  readonly composed: Composed;
  readonly connection: Connection;
  readonly canAct: boolean;
  readonly viewedStep: number | null;
}

export function enterOf({ episode, composed, connection, canAct, viewedStep }: Situation): Enter {
  if (!canAct) return { does: "nothing", why: "none" };
  if (episode.takeover) return { does: "nothing", why: "takeover" };
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
  if (proposal === undefined) return { does: "nothing", why: "none" };
  return { does: endsEpisode(proposal) ? "accept_end" : "accept", proposal };
}

/** Whether a candidate says nothing but that the task is done, or cannot be. */
export function endsEpisode({ action, further_actions: further }: Proposal): boolean {
  return further.length === 0 && (action?.kind === "finish" || action?.kind === "infeasible");
}

/** Whether a candidate may be accepted now: its screen is the one that is looked at, and no step waits for the
 * connection. On a page that has ended, only what ends the episode. */
export function mayAccept({ episode, connection, canAct, viewedStep }: Omit<Situation, "composed">, proposal: Proposal | undefined): boolean {
  if (!canAct || viewedStep !== null || episode.takeover || isSending(connection)) return false;
  if (proposal?.action == null) return false;
  return episode.observation?.page?.done !== true || endsEpisode(proposal);
}

/** Whether a step was given that could not be sent yet. */
function isSending({ phase, waiting }: Connection): boolean {
  return phase !== "online" && waiting.some(({ command }) => command.type === "accept" || command.type === "act" || command.type === "finish");
}
