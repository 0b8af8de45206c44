/** What the model saw at the step that is looked at, or sees now. */
import { useQuery } from "@tanstack/react-query";

import { trajectoryQuery } from "@/shared/api/episodes";
import { PromptView } from "@/shared/prompt/prompt-view";
import { ErrorState, Loading } from "@/shared/ui/states";
import { useWorkspace } from "@/features/annotate/use-workspace";

export function PromptDialog() {
  const { episode, viewedStep } = useWorkspace();
  if (viewedStep !== null) return <PastPrompt index={viewedStep} />;
  return <PromptView episodeId={episode.id} proposals={episode.proposals} />;
}

/** Of a step that is done: all that was offered at it, also what this page did not see. */
function PastPrompt({ index }: { index: number }) {
  const { episode } = useWorkspace();
  const { data, error, refetch } = useQuery({ ...trajectoryQuery(episode.id), queryKey: ["episode", episode.id, "trajectory", String(episode.steps.length)] });
  if (error) return <ErrorState error={error} onRetry={() => void refetch()} />;
  if (!data) return <Loading />;
  return <PromptView episodeId={episode.id} proposals={data.proposals[index] ?? []} />;
}
