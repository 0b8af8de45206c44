/** The gate's tasks before and after a cycle, one by one, with the attempts of each. */
import type { TaskChange } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { TaskChangeTable, taskName } from "@/shared/ui/tables/task-changes";

import { TrialTable } from "@/features/flywheel/trials/trial-table";

type Props = { cycle: string; changes: readonly TaskChange[]; before: string; after: string };

export function TaskChanges({ cycle, changes, before, after }: Props) {
  const { t } = useI18n();
  return (
    <TaskChangeTable
      changes={changes}
      before={before}
      after={after}
      details={{
        header: t("trials.attempts"),
        ariaLabel: (change) => t("trials.attempts_of", { task: taskName(change) }),
        body: (change) => <TrialTable cycle={cycle} task={change} before={before} after={after} />,
      }}
    />
  );
}
