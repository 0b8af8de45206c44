/** Tasks in rows; those of a preview cannot be chosen or changed. */
import { Button, Checkbox } from "@mantine/core";

import type { TaskRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable, type Column } from "@/shared/ui/tables/data-table";

import styles from "./pools.module.css";

type Props = {
  readonly tasks: readonly TaskRow[];
  readonly chosen?: ReadonlySet<number>;
  readonly onChoose?: (task: TaskRow, on: boolean) => void;
  readonly onOpen?: (what: "edit" | "reference", task: TaskRow) => void;
};

export function TaskTable({ tasks, chosen, onChoose, onOpen }: Props) {
  const { t } = useI18n();
  const columns: Column<TaskRow>[] = [
    { header: t("pools.task"), kind: "name", cell: (task) => task.key },
    { header: t("pools.instruction"), cell: (task) => task.instruction },
    { header: t("pools.state"), cell: (task) => <TaskBadges task={task} /> },
  ];
  if (onChoose) {
    columns.unshift({
      header: t("pools.choose"),
      kind: "mark",
      cell: (task) => (
        <Checkbox
          size="xs"
          aria-label={t("pools.choose_one", { name: task.key })}
          checked={chosen?.has(task.id) ?? false}
          onChange={(event) => onChoose(task, event.currentTarget.checked)}
        />
      ),
    });
  }
  if (onOpen) {
    columns.push({
      header: t("pools.actions"),
      kind: "actions",
      cell: (task) => (
        <>
          <Button variant="default" size="compact-xs" aria-label={t("pools.edit_of", { name: task.key })} onClick={() => onOpen("edit", task)}>
            {t("pools.edit")}
          </Button>
          <Button variant="default" size="compact-xs" aria-label={t("pools.reference_of", { name: task.key })} onClick={() => onOpen("reference", task)}>
            {t("pools.reference")}
          </Button>
        </>
      ),
    });
  }
  return <DataTable rows={tasks} keyOf={(task) => task.key} columns={columns} />;
}

function TaskBadges({ task }: { readonly task: TaskRow }) {
  const { t } = useI18n();
  const tone = task.state === "broken" || task.state === "withdrawn" ? "warn" : "neutral";
  return (
    <span className={styles.badges}>
      <Badge tone={tone}>{t(`pools.state.${task.state}`)}</Badge>
      {task.gold && <Badge tone="ok">{t("pools.gold")}</Badge>}
      {task.gold_wanted && (
        <Badge tone="neutral" title={t("pools.tasks.gold.help")}>
          {t("pools.gold_wanted")}
        </Badge>
      )}
    </span>
  );
}
