/** The policy that the workspace names: the one of the request under way or failed, otherwise the one that proposed last. */
import type { EpisodeState, PolicyRef } from "@/generated/vocabulary";

type Of = Pick<EpisodeState, "thinking" | "thinking_policy" | "policy">;

export function currentPolicy({ thinking, thinking_policy: latest, policy }: Of): PolicyRef | null {
  return thinking === "waiting" || thinking === "streaming" || thinking === "failed" ? (latest ?? policy) : policy;
}

export const samePolicy = (one: PolicyRef | null, other: PolicyRef | null): boolean =>
  one?.name === other?.name && one?.revision === other?.revision;
