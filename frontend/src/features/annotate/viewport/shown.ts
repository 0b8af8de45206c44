/** What the desk shows: the frame before the step looked at, else the latest one; pure. */
import type { Observation } from "@/generated/vocabulary";
import type { Desk } from "@/features/annotate/use-workspace";

export function shownIn({ episode, looking }: Pick<Desk, "episode" | "looking">): Observation | null {
  const past = looking === null ? undefined : episode.steps[looking];
  return past?.before ?? episode.observation;
}
