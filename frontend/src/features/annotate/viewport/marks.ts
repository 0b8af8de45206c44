/** Which markers the picture shows: the candidates, the draft, the act that runs, or what a past step did; pure. */

import type { Mark } from "@/shared/markers/marker-layer";

import type { Workspace } from "@/features/annotate/use-workspace";

type MarkedState = Pick<Workspace, "episode" | "draftedAction" | "viewedStep" | "hovered">;

export function marksOf({ episode, draftedAction, viewedStep, hovered }: MarkedState): Mark[] {
  const past = viewedStep === null ? undefined : episode.steps[viewedStep];
  if (past) return [{ key: past.command_id, action: past.action, tone: "done" }];
  if (episode.pending) return [{ key: episode.pending.command_id, action: episode.pending.action, tone: "pending" }];
  const candidates = episode.proposals.flatMap((proposal): Mark[] => {
    if (proposal.action === null) return [];
    const dim = hovered === null ? draftedAction !== null : hovered !== proposal.id;
    return [{ key: proposal.id, action: proposal.action, tone: "candidate", number: proposal.rank, dim }];
  });
  return draftedAction === null ? candidates : [...candidates, { key: "draft", action: draftedAction, tone: "draft" }];
}
