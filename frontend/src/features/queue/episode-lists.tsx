/** The person's own episodes: open, sent back, ended lately. */
import { Button } from "@mantine/core";
import { Link } from "react-router";

import type { EpisodeSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, disagree, OutcomeBadge, ReviewBadge, StatusBadge, VerdictBadge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { CommandKey } from "@/shared/ui/key-hint";

import { queueCommands } from "./commands";
import styles from "./queue.module.css";

type Props = { episodes: readonly EpisodeSummary[] };

export function CurrentList({ episodes }: Props) {
  const { t, relative } = useI18n();
  return (
    <ul className={styles.list}>
      {episodes.map((episode, index) => (
        <li key={episode.id} className={styles.item}>
          <div className={styles.words}>
            <Link className={styles.instruction} to={`/desk/${episode.id}`}>
              {episode.instruction}
            </Link>
            <div className={styles.facts}>
              <StatusBadge status={episode.status} />
              {episode.practice && <Badge tone="neutral">{t("queue.practice.badge")}</Badge>}
              {episode.help_requested && <Badge tone="warn">{t("queue.help_requested")}</Badge>}
              <span>{episode.pool}</span>
              <span>{t("queue.steps", { count: episode.steps })}</span>
              <span>{t("queue.started", { when: relative(episode.created_at) })}</span>
            </div>
          </div>
          <Button
            component={Link}
            to={`/desk/${episode.id}`}
            variant={index === 0 ? "filled" : "default"}
            rightSection={index === 0 && <CommandKey command={queueCommands.resume} />}
          >
            {t("queue.resume")}
          </Button>
        </li>
      ))}
    </ul>
  );
}

export function ReturnedList({ episodes }: Props) {
  const { t, relative } = useI18n();
  return (
    <ul className={styles.list}>
      {episodes.map((episode) => (
        <li key={episode.id} className={styles.item}>
          <div className={styles.words}>
            <Link className={styles.instruction} to={`/episodes/${episode.id}`}>
              {episode.instruction}
            </Link>
            <blockquote className={styles.reason}>{episode.review_reason}</blockquote>
            <div className={styles.facts}>
              <OutcomeBadge outcome={episode.outcome} />
              <VerdictBadge verdict={episode.verdict} />
              <span>{episode.pool}</span>
              {episode.finished_at && <span>{relative(episode.finished_at)}</span>}
            </div>
          </div>
          <Button component={Link} to={`/episodes/${episode.id}`} variant="default">
            {t("queue.open")}
          </Button>
        </li>
      ))}
    </ul>
  );
}

export function RecentList({ episodes }: Props) {
  const { t, relative } = useI18n();
  return (
    <DataTable
      rows={episodes}
      keyOf={(episode) => episode.id}
      columns={[
        {
          header: t("episodes.task"),
          kind: "name",
          className: styles.wide,
          cell: (episode) => (
            <Link className={styles.oneLine} to={`/episodes/${episode.id}`}>
              {episode.instruction}
            </Link>
          ),
        },
        {
          header: t("episodes.outcome"),
          cell: (episode) => episode.outcome ? <OutcomeBadge outcome={episode.outcome} /> : <StatusBadge status={episode.status} />,
        },
        {
          header: t("episodes.verdict"),
          cell: (episode) => (
            <span className={styles.badges}>
              <VerdictBadge verdict={episode.verdict} />
              {disagree(episode.outcome, episode.verdict) && <Badge tone="warn">{t("verdict.disagrees.short")}</Badge>}
            </span>
          ),
        },
        {
          header: t("review.title"),
          cell: (episode) => (
            <>
              {episode.status === "finished" && <ReviewBadge review={episode.review} />}
              {episode.review === "rejected" && <div className={styles.rejection}>{episode.review_reason}</div>}
            </>
          ),
        },
        { header: t("episodes.steps"), kind: "number", cell: (episode) => episode.steps },
        {
          header: t("episodes.finished"),
          kind: "number",
          cell: (episode) => episode.finished_at && relative(episode.finished_at),
        },
      ]}
    />
  );
}
