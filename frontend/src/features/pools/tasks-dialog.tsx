/** The tasks of a pool: searched and changed, and added from a file or a suite once it was seen what that would add. */
import { Stack } from "@mantine/core";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { apiCall, ApiCalls } from "@/shared/ui/api-calls";
import { Dialog } from "@/shared/ui/dialog";

import { TaskList } from "./task-list";
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
          <ApiCalls
            calls={[
              apiCall("pools.call.tasks", "GET", `/pools/${pool.id}/tasks`),
              apiCall("pools.call.definitions", "GET", `/pools/definitions?${new URLSearchParams({ pool: pool.settings.name }).toString()}`),
              apiCall("pools.call.suite", "POST", `/pools/${pool.id}/suite`, { suite: "drills", seeds: 2 }),
            ]}
          />
        </Stack>
      )}
    </Dialog>
  );
}
