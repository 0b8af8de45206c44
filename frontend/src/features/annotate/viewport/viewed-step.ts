/** The observation that the viewport shows, and the markers on it: candidates, the draft, the running action, or a past step. Pure. */
import type { Workspace } from "@/features/annotate/use-workspace";
import type { Observation, Proposal } from "@/generated/vocabulary";
import type { Mark } from "@/shared/markers/marker-layer";

type MarkedState = Pick<Workspace, "episode" | "draftedAction" | "viewedStep" | "hovered" | "actionLimit" | "markersHidden">;

/** A past step shows its own action only; a running action hides the candidates. */
export function marksOf({ episode, draftedAction, viewedStep, hovered, actionLimit, markersHidden }: MarkedState): Mark[] {
  if (markersHidden) return [];
  const past = viewedStep === null ? undefined : episode.steps[viewedStep];
  if (past) return [{ key: past.command_id, action: past.action, tone: "done" }];
  if (episode.pending) return [{ key: episode.pending.command_id, action: episode.pending.action, tone: "pending" }];
  const candidates = episode.proposals.flatMap((proposal): Mark[] => {
    if (proposal.action === null) return [];
    const dim = hovered === null ? draftedAction !== null : hovered !== proposal.id;
    const first: Mark = { key: proposal.id, action: proposal.action, tone: "candidate", number: proposal.rank, dim };
    return [first, ...(hovered === proposal.id ? furtherMarks(proposal, actionLimit ?? Infinity) : [])];
  });
  return draftedAction === null ? candidates : [...candidates, { key: "draft", action: draftedAction, tone: "draft" }];
}

/** The further actions of a candidate that is looked at, each with its place in the reply; those beyond the limit drawn back. */
function furtherMarks({ id, further_actions: further }: Proposal, limit: number): Mark[] {
  return further.map((action, index): Mark => {
    const number = index + 2;
    return { key: `${id}-${number}`, action, tone: "candidate", number, dim: number > limit };
  });
}

/** The observation before the viewed step, else the latest one. */
export function viewedObservation({ episode, viewedStep }: Pick<Workspace, "episode" | "viewedStep">): Observation | null {
  const past = viewedStep === null ? undefined : episode.steps[viewedStep];
  return past?.before ?? episode.observation;
}
