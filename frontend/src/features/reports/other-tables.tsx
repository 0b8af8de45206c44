/** What waits now, how long policies take, and how long machines were in use. */
import type { ReactNode } from "react";

import type { Latency, MachineUsage, QueueAge } from "@/generated/api";
import { type PlainKey, useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Empty } from "@/shared/ui/states";

export function QueueAgeTable({ queues }: { queues: readonly QueueAge[] }) {
  const { t, relative, number } = useI18n();
  const since = (at: string | null) => (at === null ? "–" : relative(at));
  return (
    <Figures
      empty="reports.no_pools"
      heads={["reports.only.pool", "reports.waiting", "reports.oldest", "reports.held", "reports.to_review", "reports.oldest"]}
      rows={queues.map((queue) => [
        queue.pool,
        number(queue.tasks_waiting),
        since(queue.oldest_task_at),
        number(queue.tasks_held),
        number(queue.reviews_waiting),
        since(queue.oldest_review_at),
      ])}
      name={t("reports.queues")}
    />
  );
}

export function LatencyTable({ latencies }: { latencies: readonly Latency[] }) {
  const { t, duration, number } = useI18n();
  return (
    <Figures
      empty="reports.no_proposals"
      heads={["reports.only.policy", "reports.proposals", "reports.median", "reports.p95_head", "reports.p99_head"]}
      rows={latencies.map((row) => [
        row.policy,
        number(row.count),
        duration(row.p50_ms),
        duration(row.p95_ms),
        duration(row.p99_ms),
      ])}
      name={t("reports.latencies")}
    />
  );
}

export function MachineTable({ machines }: { machines: readonly MachineUsage[] }) {
  const { t, number } = useI18n();
  return (
    <Figures
      empty="reports.no_machines"
      heads={["reports.image", "reports.platform", "reports.episodes", "reports.hours"]}
      rows={machines.map((row) => [row.image, row.platform, number(row.episodes), number(row.hours, 1)])}
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
    <DataTable
      label={name}
      rows={rows}
      keyOf={(row) => rows.indexOf(row)}
      columns={heads.map((head, column) => ({
        header: t(head),
        kind: column === 0 ? ("name" as const) : ("number" as const),
        cell: (row: readonly ReactNode[]) => row[column],
      }))}
    />
  );
}
