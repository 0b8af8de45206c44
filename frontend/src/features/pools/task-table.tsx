/** Tasks in rows. */
import type { TaskRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./pools.module.css";

export function TaskTable({ tasks }: { readonly tasks: readonly TaskRow[] }) {
  const { t } = useI18n();
  return (
    <DataTable
      rows={tasks}
      keyOf={(task) => task.key}
      columns={[
        { header: t("pools.task"), kind: "name", cell: (task) => task.key },
        { header: t("pools.instruction"), cell: (task) => task.instruction },
        {
          header: t("pools.state"),
          cell: (task) => (
            <span className={styles.badges}>
              <Badge tone={task.state === "broken" ? "warn" : "neutral"}>{t(`pools.state.${task.state}`)}</Badge>
              {task.gold && <Badge tone="neutral">{t("pools.gold")}</Badge>}
            </span>
          ),
        },
      ]}
    />
  );
}
