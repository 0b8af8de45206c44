/** The step being composed: kept across reloads, given back when the server refuses it or it is discarded unsent. */
import { useEffect, useState } from "react";

import type { EpisodeState, Proposal } from "@/generated/vocabulary";
import { EMPTY_DRAFT, isEmpty, type Draft, type DraftStore } from "@/session/drafts";
import type { IdentifiedCommand } from "@/session/outbox";
import type { Rejection } from "@/session/session";
import { rangesOfCount } from "@/session/text-ranges";
import { printAction } from "@/shared/actions/print";

export function useDraft(episode: EpisodeState, drafts: DraftStore, rejection: Rejection | null, discarded: IdentifiedCommand | null) {
  const step = episode.steps.length;
  const [draft, setDraft] = useState<Draft>(() => drafts.loadDraft(episode.id, step));
  const [handled, setHandled] = useState<Rejection | null>(null);
  if (rejection !== null && rejection !== handled) {
    setHandled(rejection);
    if (isEmpty(draft)) setDraft(draftFromRejected(rejection, episode.proposals));
  }
  const [returned, setReturned] = useState<IdentifiedCommand | null>(discarded);
  if (discarded !== returned) {
    setReturned(discarded);
    if (isEmpty(draft)) setDraft(draftFromRejected({ command: discarded }, episode.proposals));
  }
  useEffect(() => drafts.saveDraft(episode.id, step, draft), [drafts, episode.id, step, draft]);
  return { draft, setDraft };
}

/** What a refused or discarded command said, as a draft to mend. */
export function draftFromRejected({ command }: Pick<Rejection, "command">, proposals: readonly Proposal[]): Draft {
  if (command?.type === "act") {
    const original = proposals.find(({ id }) => id === command.proposal_id)?.thought ?? "";
    const { thought, proposal_id: proposalId, continued_characters: continued } = command;
    const taken = rangesOfCount(thought, continued); // where it was is not known any more, how much it was is
    return { command: printAction(command.action), thought, proposalId, original, taken };
  }
  if (command?.type === "accept" && command.thought !== null) {
    return { ...EMPTY_DRAFT, thought: command.thought, taken: rangesOfCount(command.thought, command.continued_characters) };
  }
  return EMPTY_DRAFT;
}
