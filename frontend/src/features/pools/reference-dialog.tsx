/** Chooses the finished episode that shows how a task is done well; with one the task is gold. */
import { Anchor, Button, Stack, Text } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import type { TaskRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { ErrorState, Loading } from "@/shared/ui/states";
import { DataTable } from "@/shared/ui/tables/data-table";

import { referencesQuery, useTaskChange } from "./api";
import styles from "./pools.module.css";

type Props = { readonly pool: number; readonly task: TaskRow | null; readonly onClose: () => void };

export function ReferenceDialog({ pool, task, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={task !== null} onClose={onClose} title={t("pools.reference.title", { task: task?.key ?? "" })} size="lg">
      {task && <References pool={pool} task={task} onDone={onClose} />}
    </Dialog>
  );
}

function References({ pool, task, onDone }: { readonly pool: number; readonly task: TaskRow; readonly onDone: () => void }) {
  const { t, moment } = useI18n();
  const query = useQuery(referencesQuery(task.id));
  const change = useTaskChange(pool);
  const set = (episode: string | null) => change.mutate({ type: "reference", task: task.id, episode }, { onSuccess: onDone });
  return (
    <Stack gap="sm">
      <Text className={styles.note}>{t("pools.reference.help")}</Text>
      {query.isPending && <Loading />}
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {query.data?.length === 0 && <Text className={styles.note}>{t("pools.reference.none")}</Text>}
      {query.data && query.data.length > 0 && (
        <DataTable
          rows={query.data}
          keyOf={({ id }) => id}
          columns={[
            {
              header: t("pools.reference.by"),
              kind: "name",
              cell: ({ id, annotator }) => (
                <Anchor component={Link} to={`/episodes/${id}`} size="sm">
                  {annotator}
                </Anchor>
              ),
            },
            { header: t("pools.reference.steps"), kind: "number", cell: ({ steps }) => steps },
            { header: t("pools.reference.finished"), cell: ({ finished_at: at }) => (at ? moment(at) : "") },
            {
              header: t("pools.actions"),
              kind: "actions",
              cell: ({ id, annotator }) =>
                id === task.reference ? (
                  <Badge tone="ok">{t("pools.reference.is")}</Badge>
                ) : (
                  <Button size="compact-xs" variant="default" aria-label={t("pools.reference.use_of", { who: annotator })} onClick={() => set(id)}>
                    {t("pools.reference.use")}
                  </Button>
                ),
            },
          ]}
        />
      )}
      {task.gold && (
        <Button variant="default" onClick={() => set(null)}>
          {t("pools.reference.clear")}
        </Button>
      )}
      <Problem error={change.error} />
    </Stack>
  );
}
