/** What a query found, as rows. */
import { Table } from "@mantine/core";
import { Link } from "react-router";

import type { Found } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { OutcomeBadge, ReviewBadge, StatusBadge } from "@/shared/ui/badge";

import styles from "./trajectories.module.css";

export function FoundTable({ found }: { found: readonly Found[] }) {
  const { t, moment } = useI18n();
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
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {found.map((item) => (
          <Table.Tr key={item.id}>
            <Table.Td>
              <Link className={styles.instruction} to={`/episodes/${item.id}`} title={item.instruction}>
                {item.instruction}
              </Link>
              <span className={styles.quiet}>{[item.pool, ...item.applications].join(" · ")}</span>
            </Table.Td>
            <Table.Td>{item.policies.join(", ")}</Table.Td>
            <Table.Td>{item.decisions.map((decision) => t(`decision.${decision}`)).join(", ")}</Table.Td>
            <Table.Td>{item.outcome ? <OutcomeBadge outcome={item.outcome} /> : <StatusBadge status={item.status} />}</Table.Td>
            <Table.Td>
              <ReviewBadge review={item.review} />
            </Table.Td>
            <Table.Td className={styles.number}>{item.steps}</Table.Td>
            <Table.Td className={styles.number}>{moment(item.created_at)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
