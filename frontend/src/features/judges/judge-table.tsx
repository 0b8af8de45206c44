/** Each judge in each pool: how much it has judged, how far it agrees with people, and what can be done. */
import { Button, Progress } from "@mantine/core";

import type { JudgeOut, JudgeRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";
import { RateText } from "@/shared/ui/tables/rate";
import { useUndoable } from "@/shared/ui/undo";

import { assignmentOf, isRunning, TRIAL_EPISODES, useChange } from "./api";
import styles from "./judges.module.css";

type Props = { readonly rows: readonly JudgeRow[]; readonly onThreshold: (row: JudgeRow) => void };

export function JudgeTable({ rows, onThreshold }: Props) {
  const { t, number } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <DataTable
        rows={rows}
        keyOf={(row) => `${row.pool.id} ${row.judge.id}`}
        columns={[
          { header: t("judges.judge"), kind: "name", cell: (row) => <JudgeName judge={row.judge} /> },
          { header: t("judges.pool"), cell: (row) => row.pool.name },
          { header: t("judges.judged"), cell: (row) => <JudgeProgress row={row} /> },
          {
            header: t("judges.threshold"),
            cell: (row) => (
              <Button
                variant="default"
                size="compact-xs"
                aria-label={t("judges.choose_one", {
                  threshold: number(row.threshold, 2),
                  judge: row.judge.ref.name,
                  pool: row.pool.name,
                })}
                onClick={() => onThreshold(row)}
              >
                {number(row.threshold, 2)}
              </Button>
            ),
          },
          { header: t("judges.precision"), kind: "number", cell: ({ at_threshold: at }) => <RateText rate={at?.precision ?? null} /> },
          { header: t("judges.recall"), kind: "number", cell: ({ at_threshold: at }) => <RateText rate={at?.recall ?? null} /> },
          { header: t("judges.f1"), kind: "number", cell: ({ at_threshold: at }) => number(at?.f1, 2) },
          {
            header: t("judges.false_positives"),
            kind: "number",
            cell: ({ at_threshold: at }) => <RateText rate={at?.false_positive_rate ?? null} />,
          },
          { header: t("judges.actions"), kind: "actions", cell: (row) => <Actions row={row} change={change} /> },
        ]}
      />
    </>
  );
}

function JudgeName({ judge: { ref, settings } }: { judge: JudgeOut }) {
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

function JudgeProgress({ row }: { row: JudgeRow }) {
  const { t } = useI18n();
  const { run, finished, judged, unsaid } = row;
  return (
    <>
      {t("judges.of", { count: judged, all: finished })}
      {unsaid > 0 && <span className={styles.note}> · {t("judges.unsaid", { count: unsaid })}</span>}
      <ReferenceCounts row={row} />
      {isRunning(run) && (
        <Progress value={run.total === 0 ? 0 : (run.judged / run.total) * 100} aria-label={t("judges.progress")} />
      )}
      {run?.status === "failed" && <div className={styles.failed}>{t("judges.failed", { why: run.error })}</div>}
      {run !== null && run.refused > 0 && (
        <div className={styles.note}>{t("judges.refused", { count: run.refused, why: run.error })}</div>
      )}
    </>
  );
}

/** What people said, which it is held against. */
function ReferenceCounts({ row: { at_threshold, counted } }: { row: JudgeRow }) {
  const { t } = useI18n();
  if (at_threshold === null) return <div className={styles.note}>{t("judges.no_people")}</div>;
  const unsaid = counted.unsaid_successes + counted.unsaid_failures;
  return (
    <div className={styles.note}>
      {t("judges.people", { successes: counted.successes, failures: counted.failures })}
      {unsaid > 0 && <> · {t("judges.unsaid", { count: unsaid })}</>}
    </div>
  );
}

function Actions({ row, change }: { row: JudgeRow; change: ReturnType<typeof useChange> }) {
  const { t } = useI18n();
  const { run } = row;
  const undoable = useUndoable();
  const names = { judge: row.judge.ref.name, pool: row.pool.name };
  const assignment = assignmentOf(row);
  const remove = () =>
    undoable({
      act: () => change.mutateAsync({ type: "remove", assignment }),
      done: t("judges.removed", names),
      undo: () => change.mutateAsync({ type: "set", assignment, threshold: row.threshold }),
    });
  if (isRunning(run)) {
    return (
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("judges.cancel_one", names)}
        onClick={() => change.mutate({ type: "cancel", run: run.id })}
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
        onClick={() => change.mutate({ type: "run", assignment })}
      >
        {t("judges.run")}
      </Button>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("judges.try_one", names)}
        title={t("judges.try.help", { count: TRIAL_EPISODES })}
        disabled={row.judged >= row.finished}
        loading={change.isPending}
        onClick={() => change.mutate({ type: "try", assignment })}
      >
        {t("judges.try")}
      </Button>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("judges.remove_one", names)}
        onClick={remove}
      >
        {t("judges.remove")}
      </Button>
    </>
  );
}
