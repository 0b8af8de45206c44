/** From which score on a judge is believed: every threshold with what it would have meant. */
import { Button, ScrollArea, Table } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";

import type { Calibration, JudgeRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";
import { RateText } from "@/shared/ui/rate";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { placeOf, sweepQuery, useChange } from "./api";
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
  const { t } = useI18n();
  const sweep = useQuery(sweepQuery(placeOf(row)));
  const change = useChange();
  if (sweep.isPending) return <Loading />;
  if (sweep.isError) return <ErrorState error={sweep.error} onRetry={() => void sweep.refetch()} />;
  if (sweep.data.points.length === 0) return <Empty title={t("judges.no_people")}>{t("judges.no_people.help")}</Empty>;
  const use = (threshold: number) => change.mutate({ do: "set", place: placeOf(row), threshold }, { onSuccess: onDone });
  return (
    <>
      <p className={styles.note}>{t("judges.threshold.help")}</p>
      <Problem error={change.error} />
      <ScrollArea.Autosize mah="60vh" type="auto" viewportProps={{ tabIndex: 0 }}>
        <Table className={styles.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th className={styles.number}>{t("judges.threshold")}</Table.Th>
              <Table.Th className={styles.number}>{t("judges.precision")}</Table.Th>
              <Table.Th className={styles.number}>{t("judges.recall")}</Table.Th>
              <Table.Th className={styles.number}>{t("judges.f1")}</Table.Th>
              <Table.Th className={styles.number}>{t("judges.false_positives")}</Table.Th>
              <Table.Th>{t("judges.actions")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {sweep.data.points.map((point) => (
              <Point
                key={point.threshold}
                point={point}
                best={point.threshold === sweep.data.best}
                chosen={point.threshold === row.threshold}
                onUse={use}
              />
            ))}
          </Table.Tbody>
        </Table>
      </ScrollArea.Autosize>
    </>
  );
}

type PointProps = {
  readonly point: Calibration;
  readonly best: boolean;
  readonly chosen: boolean;
  readonly onUse: (threshold: number) => void;
};

function Point({ point, best, chosen, onUse }: PointProps) {
  const { t } = useI18n();
  return (
    <Table.Tr>
      <Table.Td className={styles.number}>
        {best && <Badge tone="ok">{t("judges.best")}</Badge>} {point.threshold.toFixed(2)}
      </Table.Td>
      <Table.Td className={styles.number}>
        <RateText rate={point.precision} />
      </Table.Td>
      <Table.Td className={styles.number}>
        <RateText rate={point.recall} />
      </Table.Td>
      <Table.Td className={styles.number}>{point.f1 === null ? "–" : point.f1.toFixed(2)}</Table.Td>
      <Table.Td className={styles.number}>
        <RateText rate={point.false_positive_rate} />
      </Table.Td>
      <Table.Td className={styles.actions}>
        {chosen ? (
          <Badge tone="neutral">{t("judges.chosen")}</Badge>
        ) : (
          <Button
            variant="default"
            size="compact-xs"
            aria-label={t("judges.use_one", { threshold: point.threshold.toFixed(2) })}
            onClick={() => onUse(point.threshold)}
          >
            {t("judges.use")}
          </Button>
        )}
      </Table.Td>
    </Table.Tr>
  );
}
