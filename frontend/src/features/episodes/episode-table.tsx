/** Episodes as rows: the task, how it ended, what a verifier and a reviewer said. */
import { Table } from "@mantine/core";
import { Link } from "react-router";

import type { EpisodeSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, disagree, OutcomeBadge, ReviewBadge, StatusBadge, VerdictBadge } from "@/shared/ui/badge";

import styles from "./episodes.module.css";

export function EpisodeTable({ episodes }: { episodes: readonly EpisodeSummary[] }) {
  const { t, relative, moment } = useI18n();
  return (
    <Table className={styles.table} highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("episodes.task")}</Table.Th>
          <Table.Th>{t("episodes.annotator")}</Table.Th>
          <Table.Th>{t("episodes.outcome")}</Table.Th>
          <Table.Th>{t("episodes.verdict")}</Table.Th>
          <Table.Th>{t("episodes.review")}</Table.Th>
          <Table.Th className={styles.number}>{t("episodes.steps")}</Table.Th>
          <Table.Th className={styles.number}>{t("episodes.started")}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {episodes.map((episode) => (
          <Table.Tr key={episode.id}>
            <Table.Td className={styles.task}>
              <Link className={styles.instruction} to={`/episodes/${episode.id}`} title={episode.instruction}>
                {episode.instruction}
              </Link>
              <span className={styles.pool}>{episode.pool}</span>
              {episode.practice && <Badge tone="neutral">{t("queue.practice.badge")}</Badge>}
              {episode.help_requested && <Badge tone="warn">{t("queue.help_requested")}</Badge>}
              {episode.note && <blockquote className={styles.note}>{episode.note}</blockquote>}
            </Table.Td>
            <Table.Td>{episode.annotator}</Table.Td>
            <Table.Td>
              {episode.outcome ? <OutcomeBadge outcome={episode.outcome} /> : <StatusBadge status={episode.status} />}
            </Table.Td>
            <Table.Td>
              <span className={styles.badges}>
                <VerdictBadge verdict={episode.verdict} />
                {disagree(episode.outcome, episode.verdict) && (
                  <Badge tone="warn" title={t("verdict.disagrees")}>
                    {t("verdict.disagrees.short")}
                  </Badge>
                )}
              </span>
            </Table.Td>
            <Table.Td>{episode.status === "finished" && <ReviewBadge review={episode.review} />}</Table.Td>
            <Table.Td className={styles.number}>{episode.steps}</Table.Td>
            <Table.Td className={styles.number} title={moment(episode.created_at)}>
              {relative(episode.created_at)}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
