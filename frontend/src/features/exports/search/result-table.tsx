/** What a query found, as rows. */
import { Link } from "react-router";

import type { FoundEpisode } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DecisionBadge, OutcomeBadge, ReviewBadge, StatusBadge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./trajectories.module.css";

export function ResultTable({ results }: { results: readonly FoundEpisode[] }) {
  const { t, moment, relative } = useI18n();
  return (
    <DataTable
      rows={results}
      keyOf={(item) => item.id}
      columns={[
        {
          header: t("episodes.task"),
          kind: "name",
          className: styles.task,
          cell: (item) => (
            <>
              <Link className={styles.instruction} to={`/episodes/${item.id}`} title={item.instruction}>
                {item.instruction}
              </Link>
              <span className={styles.quiet}>{[item.pool, ...item.applications].join(" · ")}</span>
            </>
          ),
        },
        { header: t("trajectories.policies"), className: styles.policies, cell: (item) => item.policies.join(", ") },
        {
          header: t("trajectories.decisions"),
          className: styles.decisions,
          cell: (item) => (
            item.decisions.map((decision) => (
              <DecisionBadge key={decision} decision={decision} />
            ))
          ),
        },
        {
          header: t("episodes.outcome"),
          cell: (item) => item.outcome ? <OutcomeBadge outcome={item.outcome} /> : <StatusBadge status={item.status} />,
        },
        { header: t("episodes.review"), cell: (item) => <ReviewBadge review={item.review} /> },
        { header: t("episodes.steps"), kind: "number", cell: (item) => item.steps },
        {
          header: t("episodes.started"),
          kind: "number",
          fullText: (item) => moment(item.created_at),
          cell: (item) => relative(item.created_at),
        },
        {
          header: t("trajectories.compare"),
          kind: "actions",
          cell: (item) => (
            item.status === "finished" && (
              <Link to={`/compare?one=${item.id}`} aria-label={t("trajectories.compare_one", { task: item.instruction })}>
                {t("trajectories.compare")}
              </Link>
            )
          ),
        },
      ]}
    />
  );
}
