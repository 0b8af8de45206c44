/** What the desk shows: the frame before the step looked at, else the latest one; pure. */
import type { Observation } from "@/generated/vocabulary";
import type { Workspace } from "@/features/annotate/use-workspace";

export function viewedObservation({ episode, viewedStep }: Pick<Workspace, "episode" | "viewedStep">): Observation | null {
  const past = viewedStep === null ? undefined : episode.steps[viewedStep];
  return past?.before ?? episode.observation;
}
