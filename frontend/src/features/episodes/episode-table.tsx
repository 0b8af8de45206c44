/** Episodes as rows: the task, how it ended, what a verifier and a reviewer said. */
import { Link } from "react-router";

import type { EpisodeSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, disagree, OutcomeBadge, ReviewBadge, StatusBadge, VerdictBadge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./episodes.module.css";

export function EpisodeTable({ episodes }: { episodes: readonly EpisodeSummary[] }) {
  const { t, relative, moment } = useI18n();
  return (
    <DataTable
      rows={episodes}
      keyOf={(episode) => episode.id}
      columns={[
        {
          header: t("episodes.task"),
          kind: "name",
          className: styles.task,
          cell: (episode) => (
            <>
              <Link className={styles.instruction} to={`/episodes/${episode.id}`} title={episode.instruction}>
                {episode.instruction}
              </Link>
              <span className={styles.pool}>{episode.pool}</span>
              {episode.practice && <Badge tone="neutral">{t("queue.practice.badge")}</Badge>}
              {episode.help_requested && <Badge tone="warn">{t("queue.help_requested")}</Badge>}
              {episode.note && <blockquote className={styles.note}>{episode.note}</blockquote>}
            </>
          ),
        },
        { header: t("episodes.annotator"), cell: (episode) => episode.annotator_name },
        {
          header: t("episodes.outcome"),
          cell: (episode) => episode.outcome ? <OutcomeBadge outcome={episode.outcome} /> : <StatusBadge status={episode.status} />,
        },
        {
          header: t("episodes.verdict"),
          cell: (episode) => (
            <span className={styles.badges}>
              <VerdictBadge verdict={episode.verdict} />
              {disagree(episode.outcome, episode.verdict) && (
                <Badge tone="warn" title={t("verdict.disagrees")}>
                  {t("verdict.disagrees.short")}
                </Badge>
              )}
            </span>
          ),
        },
        {
          header: t("episodes.review"),
          cell: (episode) => episode.status === "finished" && <ReviewBadge review={episode.review} />,
        },
        { header: t("episodes.steps"), kind: "number", cell: (episode) => episode.steps },
        {
          header: t("episodes.started"),
          kind: "number",
          fullText: (episode) => moment(episode.created_at),
          cell: (episode) => relative(episode.created_at),
        },
      ]}
    />
  );
}
