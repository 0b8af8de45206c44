/** What a person must know right now, most urgent first; pure. */

import type { Branch, EpisodeState, Observation } from "@/generated/vocabulary";
import type { EpisodeView } from "@/session/reducer";
import type { Connection } from "@/session/socket";

export type Notice =
  | { readonly name: "signed_out" | "forbidden" | "missing" }
  | { readonly name: "offline"; readonly pending: number; readonly retryAt: number | null }
  | { readonly name: "reconnecting"; readonly pending: number }
  | { readonly name: "held"; readonly count: number }
  | { readonly name: "view_only"; readonly holder: string; readonly free: boolean }
  | { readonly name: "lease"; readonly seconds: number }
  | { readonly name: "branch_reached" | "branch_missed"; readonly branch: Branch }
  /** For how long already (seconds). */
  | { readonly name: "undoing"; readonly seconds: number }
  | { readonly name: "takeover" | "autopilot" | "help_requested" | "page_done" | "time_over" | "unsettled" | "storage_full" };

/** From this long before its end (milliseconds) a lease is worth a word: by then renewing has failed a while. */
export const LEASE_WARNING = 90_000;

export function noticesOf(view: EpisodeView, connection: Connection, now: number, online: boolean): Notice[] {
  return [...connectionNotices(connection, online, now), ...episodeNotices(view, now)];
}

function connectionNotices({ phase, waiting, held, retryAt }: Connection, online: boolean, now: number): Notice[] {
  const notices: Notice[] = [];
  const pending = waiting.length;
  if (phase === "signed_out" || phase === "forbidden" || phase === "missing") notices.push({ name: phase });
  if (phase === "offline" || (!online && (phase === "connecting" || phase === "online"))) {
    notices.push(online ? { name: "reconnecting", pending } : { name: "offline", pending, retryAt });
  }
  const undo = waiting.find(({ command }) => command.type === "undo");
  if (phase === "online" && undo) notices.push({ name: "undoing", seconds: Math.max(0, Math.floor((now - undo.at) / 1_000)) });
  if (held.length > 0) notices.push({ name: "held", count: held.length });
  return notices;
}

function episodeNotices({ episode, control, holder, storageFull }: EpisodeView, now: number): Notice[] {
  const notices: Notice[] = [];
  const running = episode.status === "running" || episode.status === "paused" || episode.status === "warming";
  if (!running) return notices;
  if (storageFull) notices.push({ name: "storage_full" });
  if (control !== "mine") notices.push({ name: "view_only", holder, free: control === "nobody" });
  const left = episode.lease_expires_at === null ? Infinity : Date.parse(episode.lease_expires_at) - now;
  if (left < LEASE_WARNING) notices.push({ name: "lease", seconds: Math.max(0, Math.round(left / 1_000)) });
  if (episode.takeover) notices.push({ name: "takeover" });
  if (episode.autopilot) notices.push({ name: "autopilot" });
  if (episode.help_requested) notices.push({ name: "help_requested" });
  return [...notices, ...branchNotices(episode), ...screenNotices(episode.observation)];
}

/** Where an attempt begins is told until the first act of its own. */
function branchNotices({ branch_of: branch, steps, status }: EpisodeState): Notice[] {
  const hasOwnSteps = steps.some((step) => step.decision !== "again");
  if (branch === null || branch.state === "wanted" || hasOwnSteps || status === "warming") return [];
  return [{ name: branch.state === "reached" ? "branch_reached" : "branch_missed", branch }];
}

/** A page whose time goes on is not expected to rest. */
function screenNotices(observation: Observation | null): Notice[] {
  if (observation?.page?.done === true) return [{ name: "page_done" }];
  if (observation?.page?.truncated === true) return [{ name: "time_over" }];
  const isRunning = observation?.page != null && observation.page.pace > 0;
  return observation?.rest === "timeout" && !isRunning ? [{ name: "unsettled" }] : [];
}
