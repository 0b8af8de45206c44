/** Two evaluations compared: all tasks together, then task by task. */
import { Alert } from "@mantine/core";

import type { EvaluationComparison, PageSize } from "@/generated/api";
import { useI18n, type Translate } from "@/shared/i18n/i18n";
import { Empty } from "@/shared/ui/states";
import { FindingBadge, pValueText, TaskChangeTable } from "@/shared/ui/tables/task-changes";

import { policyNames } from "./policy-label";
import styles from "./evaluations.module.css";

export function ComparisonTable({ found }: { found: EvaluationComparison }) {
  const { before, after, comparison, overall } = found;
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
      <PageSizes found={found} />
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

/** In which sizes of the pages the figures were made, and that these differ. */
function PageSizes({ found: { before, after, before_size: old, after_size: current } }: { readonly found: EvaluationComparison }) {
  const { t } = useI18n();
  const [one, other] = [sizeText(old, t), sizeText(current, t)];
  return (
    <>
      <p className={styles.note}>{t("evaluations.sizes", { before_name: policyNames(before, t), before: one, after_name: policyNames(after, t), after: other })}</p>
      {old.known && current.known && one !== other && <Alert color="yellow">{t("evaluations.sizes.differ")}</Alert>}
    </>
  );
}

function sizeText({ known, size }: PageSize, t: Translate): string {
  if (!known) return t("evaluations.sizes.unknown");
  return size === "" ? t("evaluations.sizes.own") : size.replace("x", " × ");
}
