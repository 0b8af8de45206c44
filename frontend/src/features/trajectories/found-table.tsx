/** What a query found, as rows. */
import { Table, VisuallyHidden } from "@mantine/core";
import { Link } from "react-router";

import type { Found } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DecisionBadge, OutcomeBadge, ReviewBadge, StatusBadge } from "@/shared/ui/badge";

import styles from "./trajectories.module.css";

export function FoundTable({ found }: { found: readonly Found[] }) {
  const { t, moment, relative } = useI18n();
  return (
    <Table className={styles.table} highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("episodes.task")}</Table.Th>
          <Table.Th>{t("trajectories.policies")}</Table.Th>
          <Table.Th>{t("trajectories.decisions")}</Table.Th>
          <Table.Th>{t("episodes.outcome")}</Table.Th>
          <Table.Th>{t("episodes.review")}</Table.Th>
          <Table.Th className={styles.number}>{t("episodes.steps")}</Table.Th>
          <Table.Th className={styles.number}>{t("episodes.started")}</Table.Th>
          <Table.Th>
            <VisuallyHidden>{t("trajectories.compare")}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {found.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td className={styles.task}>
              <Link className={styles.instruction} to={`/episodes/${item.id}`} title={item.instruction}>
                {item.instruction}
              </Link>
              <span className={styles.quiet}>{[item.pool, ...item.applications].join(" · ")}</span>
            </Table.Td>
            <Table.Td className={styles.policies}>{item.policies.join(", ")}</Table.Td>
            <Table.Td className={styles.decisions}>
              {item.decisions.map((decision) => (
                <DecisionBadge key={decision} decision={decision} />
              ))}
            </Table.Td>
            <Table.Td>{item.outcome ? <OutcomeBadge outcome={item.outcome} /> : <StatusBadge status={item.status} />}</Table.Td>
            <Table.Td>
              <ReviewBadge review={item.review} />
            </Table.Td>
            <Table.Td className={styles.number}>{item.steps}</Table.Td>
            <Table.Td className={styles.number} title={moment(item.created_at)}>
              {relative(item.created_at)}
            </Table.Td>
            <Table.Td className={styles.number}>
              {item.status === "finished" && (
                <Link to={`/compare?one=${item.id}`} aria-label={t("trajectories.compare_one", { task: item.instruction })}>
                  {t("trajectories.compare")}
                </Link>
              )}
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
