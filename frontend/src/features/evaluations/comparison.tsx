/** Two evaluations task by task: how often each was solved, whether the difference can be chance, and all of them together. */
import type { EvaluationComparison, TaskChange } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Empty } from "@/shared/ui/states";
import { DataTable } from "@/shared/ui/tables/data-table";
import { RateText } from "@/shared/ui/tables/rate";

import { policyNames } from "./api";
import { taskName } from "./report";
import styles from "./evaluations.module.css";

const TONES = { better: "ok", worse: "danger", chance: "neutral" } as const;

export function ComparisonTable({ found: { before, after, comparison, overall } }: { found: EvaluationComparison }) {
  const { t } = useI18n();
  if (comparison.tasks.length === 0) return <Empty title={t("evaluations.nothing_shared")} />;
  const alone: readonly [string, readonly string[]][] = [
    [policyNames(before), comparison.only_before],
    [policyNames(after), comparison.only_after],
  ];
  return (
    <>
      <p className={styles.summary}>
        <Badge tone={TONES[overall.finding]}>{t(`evaluations.finding.${overall.finding}`)}</Badge>{" "}
        {t("evaluations.together", { gained: signed(overall.gained), chance: chanceText(overall.chance) })}
      </p>
      <DataTable
        rows={comparison.tasks}
        keyOf={taskName}
        label={t("evaluations.comparison")}
        columns={[
          { header: t("evaluations.task"), kind: "name", cell: taskName },
          { header: policyNames(before), kind: "number", cell: (change) => <RateText rate={change.before} /> },
          { header: policyNames(after), kind: "number", cell: (change) => <RateText rate={change.after} /> },
          { header: t("evaluations.difference"), kind: "number", cell: (change) => differenceText(change) },
          { header: t("evaluations.by_chance"), help: t("evaluations.by_chance.help"), kind: "number", cell: ({ adjusted }) => chanceText(adjusted) },
          { header: t("evaluations.finding"), cell: ({ finding }) => <Badge tone={TONES[finding]}>{t(`evaluations.finding.${finding}`)}</Badge> },
        ]}
      />
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

const signed = (value: number): string => (value > 0 ? "+" : "") + value.toFixed(1);
const chanceText = (chance: number): string => (chance < 0.0005 ? "< 0.001" : chance.toFixed(3));
const differenceText = ({ before, after }: TaskChange): string => signed(100 * (after.rate - before.rate));
