/** From which score on a judge is believed: every threshold with what it would have meant. */
import { Button, ScrollArea } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { JudgeRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { RateText } from "@/shared/ui/tables/rate";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { assignmentOf, sweepQuery, useChange } from "./api";
import styles from "./judges.module.css";

type Props = { readonly row: JudgeRow | null; readonly onClose: () => void };

export function ThresholdDialog({ row, onClose }: Props) {
  const { t } = useI18n();
  const names = { judge: row?.judge.ref.name ?? "", pool: row?.pool.name ?? "" };
  return (
    <Dialog opened={row !== null} onClose={onClose} size="xl" title={t("judges.choose", names)}>
      {row && <Thresholds row={row} onDone={onClose} />}
    </Dialog>
  );
}

function Thresholds({ row, onDone }: { row: JudgeRow; onDone: () => void }) {
  const { t, number } = useI18n();
  const sweep = useQuery(sweepQuery(assignmentOf(row)));
  const change = useChange();
  if (sweep.isPending) return <Loading />;
  if (sweep.isError) return <ErrorState error={sweep.error} onRetry={() => void sweep.refetch()} />;
  if (sweep.data.points.length === 0) return <Empty title={t("judges.no_people")}>{t("judges.no_people.help")}</Empty>;
  const use = (threshold: number) => change.mutate({ type: "set", assignment: assignmentOf(row), threshold }, { onSuccess: onDone });
  return (
    <>
      <p className={styles.note}>{t("judges.threshold.help")}</p>
      <Problem error={change.error} />
      <ScrollArea.Autosize mah="60vh" type="auto" viewportProps={{ tabIndex: 0 }}>
        <DataTable
          rows={sweep.data.points}
          keyOf={(point) => point.threshold}
          columns={[
            {
              header: t("judges.threshold"),
              kind: "name",
              cell: ({ threshold }) => (
                <>
                  {number(threshold, 2)} {threshold === sweep.data.best && <Badge tone="ok">{t("judges.best")}</Badge>}
                </>
              ),
            },
            { header: t("judges.precision"), kind: "number", cell: (point) => <RateText rate={point.precision} /> },
            { header: t("judges.recall"), kind: "number", cell: (point) => <RateText rate={point.recall} /> },
            { header: t("judges.f1"), kind: "number", cell: ({ f1 }) => number(f1, 2) },
            { header: t("judges.false_positives"), kind: "number", cell: (point) => <RateText rate={point.false_positive_rate} /> },
            {
              header: t("judges.actions"),
              kind: "actions",
              cell: ({ threshold }) =>
                threshold === row.threshold ? (
                  <Badge tone="neutral">{t("judges.chosen")}</Badge>
                ) : (
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={t("judges.use_one", { threshold: number(threshold, 2) })}
                    onClick={() => use(threshold)}
                  >
                    {t("judges.use")}
                  </Button>
                ),
            },
          ]}
        />
      </ScrollArea.Autosize>
    </>
  );
}
