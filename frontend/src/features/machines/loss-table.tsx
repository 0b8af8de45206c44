/** Machines that ended while somebody had them. */
import { Table } from "@mantine/core";

import type { Loss } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./machines.module.css";

const SHOWN = 20;

export function LossTable({ losses }: { losses: readonly Loss[] }) {
  const { t, moment } = useI18n();
  return (
    <Table className={styles.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("machines.when")}</Table.Th>
          <Table.Th>{t("machines.machine")}</Table.Th>
          <Table.Th>{t("machines.holder")}</Table.Th>
          <Table.Th>{t("machines.reason")}</Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {losses.slice(0, SHOWN).map((loss) => (
          <Table.Tr key={`${loss.machine_id} ${loss.at}`}>
            <Table.Td>{moment(loss.at)}</Table.Td>
            <Table.Td className={styles.name}>{loss.machine_id}</Table.Td>
            <Table.Td>{loss.user || loss.holder}</Table.Td>
            <Table.Td>{loss.reason}</Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
