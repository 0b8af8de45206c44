/** Which markers the picture shows: the candidates, the draft, the act that runs, or what a past step did; pure. */

import type { Mark } from "@/shared/markers/marker-layer";

import type { Desk } from "@/features/annotate/use-workspace";

type Seen = Pick<Desk, "episode" | "drafted" | "looking" | "hovered">;

export function marksOf({ episode, drafted, looking, hovered }: Seen): Mark[] {
  const past = looking === null ? undefined : episode.steps[looking];
  if (past) return [{ key: past.command_id, action: past.action, tone: "done" }];
  if (episode.pending) return [{ key: episode.pending.command_id, action: episode.pending.action, tone: "pending" }];
  const candidates = episode.proposals.flatMap((proposal): Mark[] => {
    if (proposal.action === null) return [];
    const dim = hovered === null ? drafted !== null : hovered !== proposal.id;
    return [{ key: proposal.id, action: proposal.action, tone: "candidate", number: proposal.rank, dim }];
  });
  return drafted === null ? candidates : [...candidates, { key: "draft", action: drafted, tone: "draft" }];
}
