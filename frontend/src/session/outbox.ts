/** Commands the server has not answered yet, in order and bounded; purely. */

import type { Command, Event, EpisodeState } from "@/generated/vocabulary";

/** Commands that carry an id; pings and requests for continuations do not, and are never resent. */
export type IdentifiedCommand = Exclude<Command, { type: "ping" } | { type: "continue" }>;

export interface Entry {
  readonly command: IdentifiedCommand;
  /** When the person gave it (milliseconds since the epoch). */
  readonly at: number;
  /** Whether the page had control then, as far as it knew; left out in entries of earlier versions. */
  readonly controlled?: boolean;
}

export type Outbox = readonly Entry[];

/** More than a person gives in the longest outage worth bridging. */
export const CAPACITY = 200;

/** A command older than this (milliseconds) was meant for another screen: it waits for a person's word. */
export const FRESH_MS = 60_000;

/** Keys and pointer of a takeover older than this (milliseconds) meant a machine that nobody has seen since. */
const LIVE_MS = 1_000;

/** Without the inputs of a takeover that would strike late; when the connection is back, or the page. */
export function withoutStaleInputs(outbox: Outbox, now: number): Outbox {
  return outbox.filter(({ command, at }) => command.type !== "input" || now - at < LIVE_MS);
}

export function isFull(outbox: Outbox): boolean {
  return outbox.length >= CAPACITY;
}

export function enqueue(outbox: Outbox, command: IdentifiedCommand, at: number, controlled = true): Outbox {
  if (isFull(outbox)) throw new RangeError("outbox full");
  return [...outbox, { command, at, controlled }];
}

const OVERLOAD_CODES: ReadonlySet<string> = new Set(["flooding", "queue_full"]);

/** Whether a command was refused for lack of room alone: it is sent again, after those before it. */
export function isOverloaded(event: Event): boolean {
  return event.type === "rejected" && event.command_id !== null && OVERLOAD_CODES.has(event.code);
}

/**
 * Whether a rejected command is kept, to be sent again: it found no room, or the page lost control after the person gave
 * it. What a viewer gives is rejected for good: it must not happen when control comes later.
 */
function isRetryable(event: Event, entry: Entry): boolean {
  if (entry.command.type === "control") return false;
  return isOverloaded(event) || (event.type === "rejected" && event.code === "view_only" && entry.controlled !== false);
}

/** The outbox after an event: what was acknowledged, refused, begun or recorded is no longer waiting. */
export function settle(outbox: Outbox, event: Event): Outbox {
  const settled = settledIds(event);
  if (settled.size === 0) return outbox;
  const rest = outbox.filter((entry) => !settled.has(entry.command.command_id) || isRetryable(event, entry));
  return rest.length === outbox.length ? outbox : rest;
}

/** Those to send again after a reconnect, and those too old to send unasked. */
export function split(outbox: Outbox, now: number): { fresh: Outbox; held: Outbox } {
  return {
    fresh: outbox.filter(({ at }) => now - at < FRESH_MS),
    held: outbox.filter(({ at }) => now - at >= FRESH_MS),
  };
}

function settledIds(event: Event): ReadonlySet<string> {
  switch (event.type) {
    case "acknowledged":
      return new Set([event.command_id]);
    case "rejected":
      return new Set(event.command_id === null ? [] : [event.command_id]);
    case "step.started":
      return new Set([event.pending.command_id]);
    case "step.added":
      return new Set([event.step.command_id]);
    case "snapshot":
      return recordedIds(event.state);
    default:
      return new Set();
  }
}

function recordedIds(episode: EpisodeState): ReadonlySet<string> {
  const ids = episode.steps.map((step) => step.command_id);
  return new Set(episode.pending === null ? ids : [...ids, episode.pending.command_id]);
}
