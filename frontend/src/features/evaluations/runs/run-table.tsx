/** Each run with its progress; opened, the attempts that are running and those that ended last. */
import { Anchor, Button, Progress } from "@mantine/core";
import { useMutation, useQuery } from "@tanstack/react-query";
import { Link, useNavigate } from "react-router";

import { policyLabel } from "@/features/evaluations/policy-label";
import type { AttemptRecord, BenchmarkRunRow } from "@/generated/api";
import { useUser } from "@/shared/account/account";
import { dollars } from "@/shared/i18n/dollars";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { Problem } from "@/shared/ui/problem";
import { DataTable } from "@/shared/ui/tables/data-table";

import { isActive, runQuery, useCancel, useDelete, useRestart, useResume } from "./api";
import { canStart } from "./can-start";
import styles from "./benchmarks.module.css";

const STATUS_TONES = { waiting: "neutral", starting: "policy", running: "policy", cancelling: "warn", interrupted: "warn", finished: "ok" } as const;
const CANCELLABLE: ReadonlySet<BenchmarkRunRow["status"]> = new Set(["waiting", "starting", "running"]);
const OUTCOME_TONES = { success: "ok", failure: "danger", unjudged: "neutral", infrastructure: "warn" } as const;

type TableProps = {
  readonly runs: readonly BenchmarkRunRow[];
  /** Whether a row opens to its attempts. */
  readonly withDetails?: boolean;
};

export function RunTable({ runs, withDetails = true }: TableProps) {
  const { t, language, relative } = useI18n();
  const cancel = useCancel();
  const starter = canStart(useUser());
  return (
    <DataTable
      rows={runs}
      keyOf={(run) => run.name}
      columns={[
        { header: t("benchmarks.run"), kind: "name", cell: (run) => <RunName run={run} /> },
        {
          header: t("benchmarks.policy"),
          cell: (run) => (
            <>
              {policyLabel(run, t)}
              {run.harness && <div className={styles.note}>{t("benchmarks.harness")}</div>}
            </>
          ),
        },
        {
          header: t("benchmarks.status"),
          cell: (run) => (
            <>
              <Badge tone={STATUS_TONES[run.status]} title={t(`benchmarks.status.${run.status}.help`)}>
                {t(`benchmarks.status.${run.status}`)}
              </Badge>
              {run.error !== "" && <div className={styles.note}>{run.error}</div>}
            </>
          ),
        },
        { header: t("benchmarks.done"), cell: (run) => <Done run={run} /> },
        { header: t("benchmarks.lost"), help: t("benchmarks.lost.help"), kind: "number", cell: ({ progress }) => progress?.infrastructure ?? "–" },
        {
          header: t("benchmarks.cost"),
          kind: "number",
          cell: ({ progress }) => (progress?.cost_usd == null ? "–" : dollars(progress.cost_usd, language)),
        },
        { header: t("benchmarks.started"), cell: (run) => relative(run.created_at) },
        {
          header: t("benchmarks.actions"),
          kind: "actions",
          cell: (run) =>
            starter && (
              <>
                {CANCELLABLE.has(run.status) && (
                  <ConfirmButton
                    label={t("benchmarks.cancel")}
                    ariaLabel={t("benchmarks.cancel_one", { run: run.name })}
                    confirmation={t("benchmarks.cancel.ask")}
                    onConfirm={() => cancel(run.name)}
                  />
                )}
                {run.can_resume && <ResumeButton run={run.name} />}
                {run.can_restart && run.status !== "finished" && <RestartButton run={run.name} />}
                {run.can_delete && <DeleteRunButton run={run.name} />}
              </>
            ),
        },
      ]}
      details={
        withDetails
          ? {
              header: t("benchmarks.attempts"),
              ariaLabel: (run) => t("benchmarks.attempts_one", { run: run.name }),
              body: (run) => <Attempts run={run} />,
            }
          : undefined
      }
    />
  );
}

/** A run's name leads to its evaluation. */
function RunName({ run: { name } }: { run: BenchmarkRunRow }) {
  return (
    <Anchor component={Link} to={`/evaluations/run:${name}`} className={styles.name}>
      {name}
    </Anchor>
  );
}

function ResumeButton({ run }: { run: string }) {
  const { t } = useI18n();
  const resume = useResume();
  const action = useMutation({ mutationFn: () => resume(run) });
  return (
    <>
      <Button variant="default" size="compact-xs" loading={action.isPending} aria-label={t("benchmarks.resume_one", { run })} onClick={() => action.mutate()}>
        {t("benchmarks.resume")}
      </Button>
      <Problem error={action.error} />
    </>
  );
}

function RestartButton({ run }: { run: string }) {
  const { t } = useI18n();
  const navigate = useNavigate();
  const restart = useRestart();
  return (
    <ConfirmButton
      label={t("benchmarks.restart")}
      ariaLabel={t("benchmarks.restart_one", { run })}
      confirmation={t("benchmarks.restart.ask")}
      danger={false}
      onConfirm={async () => {
        const { name } = await restart(run);
        await navigate(`/evaluations/run:${name}`);
      }}
    />
  );
}

function DeleteRunButton({ run }: { run: string }) {
  const { t } = useI18n();
  const navigate = useNavigate();
  const remove = useDelete();
  return (
    <ConfirmButton
      label={t("benchmarks.delete")}
      ariaLabel={t("benchmarks.delete_one", { run })}
      confirmation={t("benchmarks.delete.ask")}
      onConfirm={async () => {
        await remove(run);
        await navigate("/evaluations");
      }}
    />
  );
}

function Done({ run: { attempts, progress, status } }: { run: BenchmarkRunRow }) {
  const { t } = useI18n();
  const done = progress?.done ?? 0;
  if (attempts === 0) return <>–</>;
  return (
    <>
      {t("benchmarks.of", { count: done, all: attempts })}
      {status !== "finished" && <Progress value={(done / attempts) * 100} aria-label={t("benchmarks.progress")} />}
    </>
  );
}

export function Attempts({ run }: { run: BenchmarkRunRow }) {
  const { t, relative } = useI18n();
  const details = useQuery(runQuery(run.name));
  const running = isActive(run) ? (details.data?.run.progress?.running ?? []) : [];
  return (
    <>
      <Problem error={details.error} />
      {running.map(({ task, name, seed, started_at }) => (
        <p key={task} className={styles.note}>
          {t("benchmarks.running", { task: name ?? task, seed, at: relative(started_at) })}
        </p>
      ))}
      {details.data && <Records records={details.data.records} />}
    </>
  );
}

function Records({ records }: { records: readonly AttemptRecord[] }) {
  const { t, duration, number } = useI18n();
  if (records.length === 0) return <p className={styles.note}>{t("benchmarks.no_attempts")}</p>;
  return (
    <DataTable
      rows={records}
      keyOf={(record) => record.trajectory ?? `${record.task} ${record.ended_at}`}
      label={t("benchmarks.attempts")}
      columns={[
        {
          header: t("benchmarks.task"),
          kind: "name",
          cell: ({ name, task, seed, level }) => t("benchmarks.task_seed", { task: name ?? task, seed, level }),
        },
        {
          header: t("benchmarks.outcome"),
          cell: ({ outcome, code, reason }) => (
            <Badge tone={OUTCOME_TONES[outcome]} title={reason}>
              {t(`benchmarks.outcome.${outcome}`)}
              {code !== "" && ` · ${code}`}
            </Badge>
          ),
        },
        { header: t("benchmarks.reward"), kind: "number", cell: ({ reward }) => number(reward, 2) },
        { header: t("benchmarks.points"), kind: "number", cell: ({ points }) => points ?? "–" },
        { header: t("benchmarks.steps"), kind: "number", cell: ({ steps }) => steps },
        { header: t("benchmarks.seconds"), kind: "number", cell: ({ seconds }) => (seconds === null ? "–" : duration(seconds * 1_000)) },
      ]}
    />
  );
}
