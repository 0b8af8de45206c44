/** From what a person composed to the command that is sent; pure. */

import type { Accept, Act, Action, EpisodeState, Proposal } from "@/generated/vocabulary";
import { parseAction, type Limits, type ParseFailure } from "@/shared/actions/parse";
import { printAction } from "@/shared/actions/print";
import { nearestProposal } from "@/shared/actions/similarity";
import type { Draft } from "@/session/drafts";

export type StepCommand = Omit<Accept, "command_id"> | Omit<Act, "command_id">;

export type Composed =
  | { readonly ok: true; readonly action: Action; readonly body: StepCommand }
  | { readonly ok: false; readonly reason: "empty" }
  | { readonly ok: false; readonly reason: "thought"; readonly action: Action }
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

/** The command a draft stands for: a candidate's own action with another thought is an edit of it, all else an override. */
export function compose(draft: Draft, episode: EpisodeState): Composed {
  const text = draft.command.trim();
  if (text === "") return { ok: false, reason: "empty" };
  const parsed = parseAction(text, limitsOf(episode));
  if (!parsed.ok) return { ok: false, reason: "parse", failure: parsed };
  const { action } = parsed;
  const thought = draft.thought.trim();
  if (episode.thought_required && thought === "") return { ok: false, reason: "thought", action };
  const source = episode.proposals.find(({ id }) => id === draft.proposalId) ?? null;
  if (source?.action != null && sameAction(source.action, action)) {
    return { ok: true, action, body: acceptCommand(source, episode, thought === source.thought.trim() ? null : thought) };
  }
  return { ok: true, action, body: { type: "act", action, thought, proposal_id: source?.id ?? null } };
}

export function acceptCommand(
  proposal: Proposal,
  episode: EpisodeState,
  thought: string | null = null,
  acknowledged: string[] = [],
): StepCommand {
  return { type: "accept", proposal_id: proposal.id, base_version: episode.steps.length, thought, acknowledged };
}

/** A draft for another action; the thought follows the nearest candidate unless a person wrote one. */
export function withAction(draft: Draft, action: Action, proposals: readonly Proposal[]): Draft {
  const command = printAction(action);
  const written = draft.thought.trim() !== "" && draft.thought !== draft.original;
  if (written) return { ...draft, command };
  const nearest = nearestProposal(action, proposals);
  if (nearest === null) return { command, thought: "", proposalId: null, original: "" };
  return { command, thought: nearest.thought, proposalId: nearest.id, original: nearest.thought };
}

/** A draft that begins as a candidate. */
export function draftFromProposal(proposal: Proposal): Draft {
  return {
    command: proposal.action === null ? "" : printAction(proposal.action),
    thought: proposal.thought,
    proposalId: proposal.id,
    original: proposal.thought,
  };
}

function sameAction(one: Action, other: Action): boolean {
  return printAction(one) === printAction(other);
}
