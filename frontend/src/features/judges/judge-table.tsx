/** Each judge in each pool: how much it has judged, how far it agrees with people, and what can be done. */
import { Button, Progress, Table } from "@mantine/core";

import type { JudgeOut, JudgeRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";
import { RateText } from "@/shared/ui/rate";

import { placeOf, underWay, useChange } from "./api";
import styles from "./judges.module.css";

type Props = { readonly rows: readonly JudgeRow[]; readonly onThreshold: (row: JudgeRow) => void };

export function JudgeTable({ rows, onThreshold }: Props) {
  const { t } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <Table.ScrollContainer minWidth={1080}>
        <Table className={styles.table}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("judges.judge")}</Table.Th>
              <Table.Th>{t("judges.pool")}</Table.Th>
              <Table.Th>{t("judges.judged")}</Table.Th>
              <Table.Th>{t("judges.threshold")}</Table.Th>
              <Table.Th className={styles.number}>{t("judges.precision")}</Table.Th>
              <Table.Th className={styles.number}>{t("judges.recall")}</Table.Th>
              <Table.Th className={styles.number}>{t("judges.f1")}</Table.Th>
              <Table.Th className={styles.number}>{t("judges.false_positives")}</Table.Th>
              <Table.Th>{t("judges.actions")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={`${row.pool.id} ${row.judge.id}`}>
                <Table.Td>
                  <JudgeName judge={row.judge} />
                </Table.Td>
                <Table.Td>{row.pool.name}</Table.Td>
                <Table.Td>
                  <Judged row={row} />
                </Table.Td>
                <Table.Td>
                  <Button
                    variant="default"
                    size="compact-xs"
                    aria-label={t("judges.choose_one", {
                      threshold: row.threshold.toFixed(2),
                      judge: row.judge.ref.name,
                      pool: row.pool.name,
                    })}
                    onClick={() => onThreshold(row)}
                  >
                    {row.threshold.toFixed(2)}
                  </Button>
                </Table.Td>
                <Agreement row={row} />
                <Table.Td className={styles.actions}>
                  <Actions row={row} change={change} />
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
    </>
  );
}

export function JudgeName({ judge: { ref, settings } }: { judge: JudgeOut }) {
  const { t } = useI18n();
  return (
    <>
      <strong className={styles.name}>
        {ref.name} {ref.revision}
      </strong>{" "}
      {ref.scripted && <Badge tone="warn">{t("policy.scripted")}</Badge>}
      <div className={styles.note}>
        {t(`judges.kind.${ref.kind}`)}
        {settings.votes > 1 && <> · {t(`judges.votes.${settings.combine}`, { count: settings.votes })}</>}
      </div>
    </>
  );
}

function Judged({ row: { run, finished, judged, unsaid } }: { row: JudgeRow }) {
  const { t } = useI18n();
  return (
    <>
      {t("judges.of", { count: judged, all: finished })}
      {unsaid > 0 && <span className={styles.note}> · {t("judges.unsaid", { count: unsaid })}</span>}
      {underWay(run) && (
        <Progress value={run.total === 0 ? 0 : (run.judged / run.total) * 100} aria-label={t("judges.progress")} />
      )}
      {run?.status === "failed" && <div className={styles.failed}>{t("judges.failed", { why: run.error })}</div>}
      {run !== null && run.refused > 0 && (
        <div className={styles.note}>{t("judges.refused", { count: run.refused, why: run.error })}</div>
      )}
    </>
  );
}

function Agreement({ row: { at_threshold: at, counted } }: { row: JudgeRow }) {
  const { t } = useI18n();
  if (at === null) {
    return (
      <Table.Td colSpan={4} className={styles.note}>
        {t("judges.no_people")}
      </Table.Td>
    );
  }
  const unsaid = counted.unsaid_successes + counted.unsaid_failures;
  return (
    <>
      <Table.Td className={styles.number}>
        <RateText rate={at.precision} />
      </Table.Td>
      <Table.Td className={styles.number}>
        <RateText rate={at.recall} />
      </Table.Td>
      <Table.Td className={styles.number}>
        {at.f1 === null ? "–" : at.f1.toFixed(2)}{" "}
        <span className={styles.note}>
          {t("judges.people", { successes: counted.successes, failures: counted.failures })}
          {unsaid > 0 && <> · {t("judges.unsaid", { count: unsaid })}</>}
        </span>
      </Table.Td>
      <Table.Td className={styles.number}>
        <RateText rate={at.false_positive_rate} />
      </Table.Td>
    </>
  );
}

function Actions({ row, change }: { row: JudgeRow; change: ReturnType<typeof useChange> }) {
  const { t } = useI18n();
  const { run } = row;
  const names = { judge: row.judge.ref.name, pool: row.pool.name };
  if (underWay(run)) {
    return (
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("judges.cancel_one", names)}
        onClick={() => change.mutate({ do: "cancel", run: run.id })}
      >
        {t("judges.cancel")}
      </Button>
    );
  }
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("judges.run_one", names)}
        disabled={row.judged >= row.finished}
        loading={change.isPending}
        onClick={() => change.mutate({ do: "run", place: placeOf(row) })}
      >
        {t("judges.run")}
      </Button>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("judges.remove_one", names)}
        onClick={() => change.mutate({ do: "remove", place: placeOf(row) })}
      >
        {t("judges.remove")}
      </Button>
    </>
  );
}
