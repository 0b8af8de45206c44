/** Who waits for a machine, the next one first. */

import type { QueueEntry } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";

export function QueueTable({ queue }: { queue: readonly QueueEntry[] }) {
  const { t, relative } = useI18n();
  return (
    <DataTable
      rows={queue}
      keyOf={(waiter) => waiter.request_id}
      columns={[
        { header: t("machines.position"), kind: "name", cell: (waiter) => waiter.position },
        { header: t("machines.image"), cell: (waiter) => waiter.image },
        { header: t("machines.holder"), cell: (waiter) => waiter.user || waiter.holder },
        { header: t("machines.pool"), cell: (waiter) => waiter.pool },
        { header: t("machines.since"), kind: "number", cell: (waiter) => relative(waiter.since) },
      ]}
    />
  );
}
