/** Two evaluations task by task: each success rate, their difference, and whether it may be chance. */
import type { TaskChange } from "@/generated/api";
import { useI18n, type I18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import { DataTable, type Details } from "./data-table";
import { RateText } from "./rate";

const TONES = { better: "ok", worse: "danger", chance: "neutral" } as const;

interface Props {
  readonly changes: readonly TaskChange[];
  /** The names of the two policies. */
  readonly before: string;
  readonly after: string;
  readonly label?: string;
  readonly details?: Details<TaskChange>;
}

export function TaskChangeTable({ changes, before, after, label, details }: Props) {
  const { t, number, signed } = useI18n();
  return (
    <DataTable
      rows={changes}
      keyOf={taskName}
      label={label}
      columns={[
        { header: t("changes.task"), kind: "name", cell: taskName },
        { header: before, kind: "number", cell: (change) => <RateText rate={change.before} /> },
        { header: after, kind: "number", cell: (change) => <RateText rate={change.after} /> },
        { header: t("changes.difference"), kind: "number", cell: (change) => signed(100 * (change.after.rate - change.before.rate), 1) },
        { header: t("changes.p_value"), help: t("changes.p_value.help"), kind: "number", cell: ({ adjusted }) => pValueText(adjusted, number) },
        { header: t("changes.finding"), cell: ({ finding }) => <FindingBadge finding={finding} /> },
      ]}
      {...(details && { details })}
    />
  );
}

export function FindingBadge({ finding }: Pick<TaskChange, "finding">) {
  const { t } = useI18n();
  return <Badge tone={TONES[finding]}>{t(`changes.finding.${finding}`)}</Badge>;
}

/** A task's suite, name and, above the first, level. */
export const taskName = ({ suite, name, level }: Pick<TaskChange, "suite" | "name" | "level">): string =>
  [suite, name].filter(Boolean).join("/") + (level > 1 ? ` · ${level}` : "");

export const pValueText = (value: number, number: I18n["number"]): string => (value < 0.0005 ? `< ${number(0.001)}` : number(value, 3));
