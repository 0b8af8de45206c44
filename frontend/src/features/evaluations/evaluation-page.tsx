/** One evaluation, alone or against an earlier one that the address names (`?against=`). */
import { Anchor, Button, NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";

import type { BenchmarkRunRow, EvaluationOut, GateOutcome } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { reasonText } from "@/shared/ui/gate-reason";
import { Page, Section } from "@/shared/ui/page";
import { ErrorState, Loading } from "@/shared/ui/states";
import { RateText } from "@/shared/ui/tables/rate";
import { PagePath } from "@/shared/ui/top-bar";

import { comparisonQuery, evaluationQuery, evaluationsQuery, useDeleteEvaluation } from "./api";
import { ComparisonTable } from "./comparison";
import { policyLabel, policyNames } from "./policy-label";
import { RegisterDialog } from "./register-dialog";
import { Report } from "./report";
import { runQuery } from "./runs/api";
import { Attempts, RunTable } from "./runs/run-table";
import styles from "./evaluations.module.css";

const RUN = "run:";
/** Marks a pool or a file where it stands for a benchmark. */
const PREFIX = /^(pool|file):/;

export default function EvaluationPage({ evaluationId }: { evaluationId: string }) {
  const isRun = evaluationId.startsWith(RUN);
  const run = useQuery({ ...runQuery(evaluationId.slice(RUN.length)), enabled: isRun }).data?.run;
  return <Page>{run && run.status !== "finished" ? <Progress run={run} /> : <Whole id={evaluationId} />}</Page>;
}

function Whole({ id }: { id: string }) {
  const { t } = useI18n();
  const evaluation = useQuery(evaluationQuery(id));
  return (
    <>
      <Crumbs name={evaluation.data ? policyNames(evaluation.data.row, t) : "…"} />
      {evaluation.isPending && <Loading />}
      {evaluation.isError && !evaluation.data && <ErrorState error={evaluation.error} onRetry={() => void evaluation.refetch()} />}
      {evaluation.data && <Details id={id} evaluation={evaluation.data} />}
    </>
  );
}

function Crumbs({ name }: { name: string }) {
  const { t } = useI18n();
  return <PagePath crumbs={[{ label: t("evaluations.title"), to: "/evaluations" }, { label: name }]} />;
}

/** How far an evaluation is; its report takes this place when it has ended. */
function Progress({ run }: { run: BenchmarkRunRow }) {
  const { t } = useI18n();
  return (
    <>
      <Crumbs name={run.name} />
      <Section title={t("evaluations.of", { name: policyLabel(run, t), what: run.benchmark.replace(PREFIX, "") })}>
        <p className={styles.note}>{t(`benchmarks.status.${run.status}.help`)}</p>
        <RunTable runs={[run]} withDetails={false} />
      </Section>
      <Section title={t("benchmarks.attempts")}>
        <div className={styles.attempts}>
          <Attempts run={run} />
        </div>
      </Section>
    </>
  );
}

function Details({ id, evaluation }: { id: string; evaluation: EvaluationOut }) {
  const { t, moment } = useI18n();
  const [search, setSearch] = useSearchParams();
  const against = search.get("against") ?? "";
  const earlier = useQuery({ ...evaluationQuery(against), enabled: against !== "" });
  const { row, report, decisions } = evaluation;
  const name = policyNames(row, t);
  return (
    <>
      <Section title={t("evaluations.of", { name, what: row.name })} aside={
          <>
            <Registration evaluation={evaluation} />
            {evaluation.can_delete && <DeleteButton id={id} registered={row.source === "report"} />}
          </>
        }
      >
        <p className={styles.summary}>
          <RateText rate={row.successes} /> · {t("evaluations.count.tasks", { count: row.tasks })} · {t("evaluations.count.attempts", { count: row.attempts })} ·{" "}
          {moment(row.created_at)}
          {row.run !== null && ` · ${row.run}`}
        </p>
        <Origin evaluation={evaluation} />
        {decisions.map((decision) => (
          <Decision key={decision.pool} decision={decision} />
        ))}
      </Section>
      <Section title={t("evaluations.comparison")} aside={<AgainstChoice id={id} value={against} onChange={(next) => setSearch(next === "" ? {} : { against: next }, { replace: true })} />}>
        {against === "" ? <p className={styles.note}>{t("evaluations.against.help")}</p> : <Comparison before={against} after={id} />}
      </Section>
      <Report
        report={report}
        name={name}
        before={earlier.data && against !== "" ? { report: earlier.data.report, name: distinct(policyNames(earlier.data.row, t), name, t("evaluations.earlier")) } : undefined}
      />
    </>
  );
}

/** Two evaluations of one revision need two names. */
const distinct = (name: string, other: string, mark: string): string => (name === other ? `${name} (${mark})` : name);

function AgainstChoice({ id, value, onChange }: { id: string; value: string; onChange: (id: string) => void }) {
  const { t, moment } = useI18n();
  const evaluations = useQuery(evaluationsQuery);
  const others = (evaluations.data?.items ?? []).filter((each) => each.id !== id);
  return (
    <NativeSelect
      size="xs"
      aria-label={t("evaluations.against")}
      value={value}
      onChange={(event) => onChange(event.currentTarget.value)}
      data={[
        { value: "", label: t("evaluations.against.none") },
        ...others.map((each) => ({ value: each.id, label: `${policyNames(each, t)} · ${each.name} · ${moment(each.created_at)}` })),
        ...(value !== "" && others.every((each) => each.id !== value) ? [{ value, label: value }] : []),
      ]}
    />
  );
}

function Comparison({ before, after }: { before: string; after: string }) {
  const found = useQuery(comparisonQuery(before, after));
  if (found.isPending) return <Loading />;
  if (!found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  return <ComparisonTable found={found.data} />;
}

/** Whether the report is registered; for admins, the way to register it. */
function Registration({ evaluation }: { evaluation: EvaluationOut }) {
  const { t } = useI18n();
  const admin = hasRole(useUser(), "admin");
  const [open, setOpen] = useState(false);
  const { row, registered } = evaluation;
  if (registered !== null) return <Badge tone="ok">{t("evaluations.registered")}</Badge>;
  if (!admin || row.run === null || row.policies.every(({ scripted }) => scripted)) return null;
  return (
    <>
      <Button size="xs" onClick={() => setOpen(true)}>
        {t("evaluations.register.open")}
      </Button>
      <RegisterDialog opened={open} run={row.run} evaluation={evaluation} onClose={() => setOpen(false)} />
    </>
  );
}

/** The flywheel's cycle that made it, and the judge that scored some of it. */
function Origin({ evaluation: { cycle, judge_known: known, report } }: { evaluation: EvaluationOut }) {
  const { t } = useI18n();
  const admin = hasRole(useUser(), "admin");
  if (cycle === null && report.judge === "") return null;
  return (
    <p className={styles.summary}>
      {cycle !== null && (
        <Anchor component={Link} to={`/flywheel/${cycle.id}`}>
          {t("evaluations.cycle", { number: cycle.number, flywheel: cycle.flywheel })}
        </Anchor>
      )}
      {cycle !== null && report.judge !== "" && " · "}
      {report.judge !== "" && (
        <>
          {t("evaluations.scored", { count: report.judged, all: report.attempts })}{" "}
          {known && admin ? (
            <Anchor component={Link} to="/judges">
              {report.judge}
            </Anchor>
          ) : (
            report.judge
          )}
        </>
      )}
    </p>
  );
}

function DeleteButton({ id, registered }: { id: string; registered: boolean }) {
  const { t } = useI18n();
  const navigate = useNavigate();
  const remove = useDeleteEvaluation();
  return (
    <ConfirmButton
      label={t("evaluations.delete")}
      confirmation={t(registered ? "evaluations.delete.report" : "benchmarks.delete.ask")}
      size="xs"
      onConfirm={async () => {
        await remove.mutateAsync(id);
        await navigate("/evaluations");
      }}
    />
  );
}

function Decision({ decision }: { decision: GateOutcome }) {
  const i18n = useI18n();
  const said = decision.promoted ? "promoted" : decision.passed ? "passed" : "shut";
  return (
    <p className={styles.summary}>
      <Badge tone={decision.passed ? "ok" : "warn"}>{i18n.t(`policies.decision.${said}`, { pool: decision.pool })}</Badge>{" "}
      {decision.reasons.map((reason) => reasonText(reason, i18n)).join("; ")}
    </p>
  );
}
