/** What waits now, how long policies take, and how long machines were in use. */
import { Table } from "@mantine/core";
import type { ReactNode } from "react";

import type { Latency, MachineUse, QueueAge } from "@/generated/api";
import { type PlainKey, useI18n } from "@/shared/i18n/i18n";
import { Empty } from "@/shared/ui/states";

import styles from "./reports.module.css";

export function QueueAgeTable({ queues }: { queues: readonly QueueAge[] }) {
  const { t, relative } = useI18n();
  const since = (at: string | null) => (at === null ? "–" : relative(at));
  return (
    <Figures
      empty="reports.no_pools"
      heads={["reports.only.pool", "reports.waiting", "reports.oldest", "reports.held", "reports.to_review", "reports.oldest"]}
      rows={queues.map((queue) => [
        queue.pool,
        queue.tasks_waiting.toLocaleString(),
        since(queue.oldest_task_at),
        queue.tasks_held.toLocaleString(),
        queue.reviews_waiting.toLocaleString(),
        since(queue.oldest_review_at),
      ])}
      name={t("reports.queues")}
    />
  );
}

export function LatencyTable({ latencies }: { latencies: readonly Latency[] }) {
  const { t, duration } = useI18n();
  return (
    <Figures
      empty="reports.no_proposals"
      heads={["reports.only.policy", "reports.proposals", "reports.median", "reports.p95_head", "reports.p99_head"]}
      rows={latencies.map((row) => [
        row.policy,
        row.count.toLocaleString(),
        duration(row.p50_ms),
        duration(row.p95_ms),
        duration(row.p99_ms),
      ])}
      name={t("reports.latencies")}
    />
  );
}

export function MachineTable({ machines }: { machines: readonly MachineUse[] }) {
  const { t } = useI18n();
  return (
    <Figures
      empty="reports.no_machines"
      heads={["reports.image", "reports.platform", "reports.episodes", "reports.hours"]}
      rows={machines.map((row) => [row.image, row.platform, row.episodes.toLocaleString(), row.hours.toFixed(1)])}
      name={t("reports.machines")}
    />
  );
}

type FiguresProps = {
  readonly name: string;
  readonly empty: PlainKey;
  readonly heads: readonly PlainKey[];
  readonly rows: readonly (readonly ReactNode[])[];
};

/** A name, then figures. */
function Figures({ name, empty, heads, rows }: FiguresProps) {
  const { t } = useI18n();
  if (rows.length === 0) return <Empty title={t(empty)} />;
  return (
    <Table className={styles.table} aria-label={name}>
      <Table.Thead>
        <Table.Tr>
          {heads.map((head, column) => (
            <Table.Th key={column} className={column === 0 ? undefined : styles.number}>
              {t(head)}
            </Table.Th>
          ))}
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {rows.map((cells, row) => (
          <Table.Tr key={row}>
            {cells.map((cell, column) => (
              <Table.Td key={column} className={column === 0 ? undefined : styles.number}>
                {cell}
              </Table.Td>
            ))}
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
