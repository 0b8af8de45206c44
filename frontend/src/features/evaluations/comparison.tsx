/** Two evaluations compared: all tasks together, then task by task. */
import type { EvaluationComparison } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Empty } from "@/shared/ui/states";
import { FindingBadge, pValueText, TaskChangeTable } from "@/shared/ui/tables/task-changes";

import { policyNames } from "./policy-label";
import styles from "./evaluations.module.css";

export function ComparisonTable({ found: { before, after, comparison, overall } }: { found: EvaluationComparison }) {
  const { t, number, signed } = useI18n();
  if (comparison.tasks.length === 0) return <Empty title={t("evaluations.nothing_shared")} />;
  const alone: readonly [string, readonly string[]][] = [
    [policyNames(before, t), comparison.only_before],
    [policyNames(after, t), comparison.only_after],
  ];
  return (
    <>
      <p className={styles.summary}>
        <FindingBadge finding={overall.finding} />{" "}
        {t("evaluations.together", { gained: signed(overall.gained, 1), chance: pValueText(overall.chance, number) })}
      </p>
      <TaskChangeTable changes={comparison.tasks} before={policyNames(before, t)} after={policyNames(after, t)} label={t("evaluations.comparison")} />
      {alone
        .filter(([, tasks]) => tasks.length > 0)
        .map(([name, tasks]) => (
          <p key={name} className={styles.note}>
            {t("evaluations.only", { name, tasks: tasks.join(", ") })}
          </p>
        ))}
    </>
  );
}
