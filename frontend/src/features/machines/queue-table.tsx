/** Who waits for a machine, the next one first. */
import { Table } from "@mantine/core";

import type { Waiter } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./machines.module.css";

export function QueueTable({ queue }: { queue: readonly Waiter[] }) {
  const { t, relative } = useI18n();
  return (
    <Table className={styles.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("machines.position")}</Table.Th>
          <Table.Th>{t("machines.image")}</Table.Th>
          <Table.Th>{t("machines.holder")}</Table.Th>
          <Table.Th>{t("machines.pool")}</Table.Th>
          <Table.Th className={styles.number}>{t("machines.since")}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {queue.map((waiter) => (
          <Table.Tr key={waiter.request_id}>
            <Table.Td>{waiter.position}</Table.Td>
            <Table.Td>{waiter.image}</Table.Td>
            <Table.Td>{waiter.user || waiter.holder}</Table.Td>
            <Table.Td>{waiter.pool}</Table.Td>
            <Table.Td className={styles.number}>{relative(waiter.since)}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
