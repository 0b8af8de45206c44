/** The tasks of a pool: searched, and added from a file or a suite once it was seen what that would add. */
import { Button, Stack, Text, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { ErrorState, Loading } from "@/shared/ui/states";

import { tasksQuery } from "./api";
import styles from "./pools.module.css";
import { TaskTable } from "./task-table";
import { UploadForm } from "./upload-form";

type Props = { readonly pool: PoolRow | null; readonly onClose: () => void };

export function TasksDialog({ pool, onClose }: Props) {
  const { t } = useI18n();
  return (
    <Dialog opened={pool !== null} onClose={onClose} title={t("pools.tasks_of", { pool: pool?.settings.name ?? "" })} size="xl">
      {pool && (
        <Stack gap="md">
          <UploadForm pool={pool} />
          <TaskList pool={pool.id} />
        </Stack>
      )}
    </Dialog>
  );
}

function TaskList({ pool }: { readonly pool: number }) {
  const { t } = useI18n();
  const [search, setSearch] = useState("");
  const [wanted] = useDebouncedValue(search, 250);
  const query = useInfiniteQuery(tasksQuery(pool, wanted));
  const tasks = query.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <Stack gap="xs">
      <TextInput label={t("pools.search")} value={search} onChange={(event) => setSearch(event.currentTarget.value)} />
      {query.isPending && <Loading />}
      {query.isError && <ErrorState error={query.error} onRetry={() => void query.refetch()} />}
      {query.data && (tasks.length > 0 ? <TaskTable tasks={tasks} /> : <Text className={styles.note}>{t("pools.no_tasks")}</Text>)}
      {query.hasNextPage && (
        <Button variant="default" loading={query.isFetchingNextPage} onClick={() => void query.fetchNextPage()}>
          {t("pools.more")}
        </Button>
      )}
    </Stack>
  );
}
