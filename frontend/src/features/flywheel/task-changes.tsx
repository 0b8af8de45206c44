/** The gate's tasks before and after a cycle, one by one: how often each was solved, whether that can be chance, and its attempts. */
import type { TaskChange } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { RateText } from "@/shared/ui/tables/rate";

import { TrialTable } from "@/features/flywheel/trials/trial-table";

const TONES = { better: "ok", worse: "danger", chance: "neutral" } as const;

type Props = { cycle: string; changes: readonly TaskChange[]; before: string; after: string };

export function TaskChanges({ cycle, changes, before, after }: Props) {
  const { t } = useI18n();
  return (
    <DataTable
      rows={changes}
      keyOf={nameOf}
      columns={[
        { header: t("flywheel.task"), kind: "name", cell: nameOf },
        { header: before, kind: "number", cell: (change) => <RateText rate={change.before} /> },
        { header: after, kind: "number", cell: (change) => <RateText rate={change.after} /> },
        { header: t("flywheel.by_chance"), kind: "number", cell: ({ adjusted }) => adjusted.toFixed(3) },
        {
          header: t("flywheel.finding"),
          cell: ({ finding }) => <Badge tone={TONES[finding]}>{t(`flywheel.finding.${finding}`)}</Badge>,
        },
      ]}
      details={{
        header: t("trials.attempts"),
        ariaLabel: (change) => t("trials.attempts_of", { task: nameOf(change) }),
        body: (change) => <TrialTable cycle={cycle} task={change} before={before} after={after} />,
      }}
    />
  );
}

const nameOf = ({ suite, name, level }: TaskChange): string =>
  [suite, name].filter(Boolean).join("/") + (level > 1 ? ` · ${level}` : "");
