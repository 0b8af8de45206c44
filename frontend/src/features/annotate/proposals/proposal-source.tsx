/** Which server and model stand behind the policy that proposes here. */
import { useQuery } from "@tanstack/react-query";

import type { EpisodeState } from "@/generated/vocabulary";
import { request } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./proposals.module.css";

export function ProposalSource({ episode: { id, policy } }: { episode: EpisodeState }) {
  const { t } = useI18n();
  const { data } = useQuery({
    queryKey: ["episode", id, "proposer", policy?.name, policy?.revision],
    queryFn: () => request("GET", `/episodes/${id}/proposer`),
    enabled: policy !== null,
    staleTime: Infinity,
    retry: false,
  });
  if (!data?.model) return null;
  const weights = data.weight_version && ` (${data.weight_version})`;
  return <p className={styles.server}>{t("proposals.from", { model: data.model + weights, server: data.server })}</p>;
}
