/** From what a person composed to the command that is sent; pure. */

import type { Accept, Act, Action, EpisodeState, Proposal } from "@/generated/vocabulary";
import { parseAction, type Limits, type ParseFailure } from "@/shared/actions/parse";
import { printAction } from "@/shared/actions/print";
import { haveSameTarget, nearestProposal } from "@/shared/actions/similarity";
import { needsThoughtFirst } from "@/shared/steps";
import type { Draft } from "@/session/drafts";
import { countTaken } from "@/session/text-ranges";

export type StepCommand = Omit<Accept, "command_id"> | Omit<Act, "command_id">;

export type Composed =
  | { readonly ok: true; readonly action: Action; readonly body: StepCommand }
  | { readonly ok: false; readonly reason: "empty" }
  /** The thought is missing; `foreign` where there is one, but of a candidate that does something else. */
  | { readonly ok: false; readonly reason: "thought"; readonly action: Action; readonly foreign: boolean }
  | { readonly ok: false; readonly reason: "parse"; readonly failure: ParseFailure };

/** What the machine at hand allows a written action to be. */
export function limitsOf(episode: EpisodeState): Limits {
  const { width = 0, height = 0 } = episode.observation ?? {};
  const sized = width > 0 && height > 0;
  return {
    width: sized ? width : Infinity,
    height: sized ? height : Infinity,
    capabilities: episode.capabilities,
  };
}

/**
 * The command a draft stands for: a candidate's own action with another thought is an edit of it, all else an override.
 * A candidate's thought as it is counts only for what the candidate says; elsewhere it is as good as none.
 */
export function compose(draft: Draft, episode: EpisodeState): Composed {
  const text = draft.command.trim();
  if (text === "") return { ok: false, reason: "empty" };
  const parsed = parseAction(text, limitsOf(episode));
  if (!parsed.ok) return { ok: false, reason: "parse", failure: parsed };
  const { action } = parsed;
  const source = episode.proposals.find(({ id }) => id === draft.proposalId) ?? null;
  const foreign = isForeign(draft, source, action);
  const thought = foreign ? "" : draft.thought.trim();
  if (needsThoughtFirst(episode) && thought === "") return { ok: false, reason: "thought", action, foreign };
  const continued = foreign ? 0 : countTaken(draft.taken, draft.thought);
  return { ok: true, action, body: commandFor(action, thought, continued, source, episode) };
}

function commandFor(action: Action, thought: string, continued: number, source: Proposal | null, episode: EpisodeState): StepCommand {
  if (source?.action != null && sameAction(source.action, action)) {
    const changed = thought === source.thought.trim() ? null : thought;
    return acceptCommand(source, episode, { thought: changed, continued, actions: 1 });
  }
  return { type: "act", action, thought, continued_characters: continued, proposal_id: source?.id ?? null };
}

/** Whether the thought is that of a candidate that does something else. */
function isForeign(draft: Draft, source: Proposal | null, action: Action): boolean {
  const said = source?.action ?? null;
  return isInherited(draft) && (said === null || !haveSameTarget(said, action));
}

/** Whether the thought is a candidate's, as it was. */
export function isInherited({ thought, original }: Draft): boolean {
  return original.trim() !== "" && thought.trim() === original.trim();
}

/** Whether a draft may be done without another look: its thought is nobody else's, and was not written for another action. */
export function isMeant(before: Draft, composed: Composed): boolean {
  if (!composed.ok) return false;
  if (composed.body.type === "accept" || composed.body.thought === "") return true;
  return !isInherited(before) && before.thought.trim() !== "" && before.command.trim() === "";
}

interface Accepted {
  readonly thought?: string | null;
  /** Characters of that thought which continue what was typed, as the policy offered them. */
  readonly continued?: number;
  /** How many of the candidate's actions are done, from the first; null for all of them. */
  readonly actions?: number | null;
  /** The safety checks of its provider that the person has looked at. */
  readonly acknowledged?: string[];
}

export function acceptCommand(
  proposal: Proposal,
  episode: EpisodeState,
  { thought = null, continued = 0, actions = null, acknowledged = [] }: Accepted = {},
): StepCommand {
  const part = actions !== null && actions < actionsOf(proposal).length ? actions : null;
  const words = { thought, continued_characters: thought === null ? 0 : continued };
  return { type: "accept", proposal_id: proposal.id, base_version: episode.steps.length, ...words, actions: part, acknowledged };
}

/** All that a candidate says to do, in order. */
export function actionsOf({ action, further_actions: further }: Proposal): readonly Action[] {
  return action === null ? [] : [action, ...further];
}

/** The most actions a candidate on offer says to do. */
export function mostActions({ proposals }: Pick<EpisodeState, "proposals">): number {
  return Math.max(0, ...proposals.map((proposal) => actionsOf(proposal).length));
}

/** A draft for another action; the thought is that of a candidate for the same act on the same target, unless a person wrote one. */
export function withAction(draft: Draft, action: Action, proposals: readonly Proposal[]): Draft {
  const command = printAction(action);
  if (draft.thought.trim() !== "" && !isInherited(draft)) return { ...draft, command };
  const nearest = nearestProposal(action, proposals);
  if (nearest === null) return { command, thought: "", proposalId: null, original: "", taken: [] };
  return { command, thought: nearest.thought, proposalId: nearest.id, original: nearest.thought, taken: [] };
}

/** A draft that begins as a candidate. */
export function draftFromProposal(proposal: Proposal): Draft {
  return {
    command: proposal.action === null ? "" : printAction(proposal.action),
    thought: proposal.thought,
    proposalId: proposal.id,
    original: proposal.thought,
    taken: [],
  };
}

function sameAction(one: Action, other: Action): boolean {
  return printAction(one) === printAction(other);
}
