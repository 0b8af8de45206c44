/** A report: its attempts and their cost, then the figures and curves of each suite, then every task. */
import type { ReactNode } from "react";

import type { Evaluation, SuiteResult, TaskResult } from "@/generated/api";
import { dollars } from "@/shared/i18n/dollars";
import { useI18n } from "@/shared/i18n/i18n";
import { Section } from "@/shared/ui/page";
import { Empty } from "@/shared/ui/states";
import { DataTable } from "@/shared/ui/tables/data-table";
import { RateText } from "@/shared/ui/tables/rate";
import { taskName } from "@/shared/ui/tables/task-changes";

import { ResultCurves, type Named } from "./curves";
import styles from "./evaluations.module.css";

type Props = { readonly report: Evaluation; readonly name: string; readonly before?: { readonly report: Evaluation; readonly name: string } | undefined };

export function Report({ report, name, before }: Props) {
  const { t } = useI18n();
  const earlier = (suite: string): Named | undefined => {
    const found = before?.report.suites.find((each) => each.suite === suite);
    return found && before ? { name: before.name, result: found } : undefined;
  };
  return (
    <>
      <Section title={t("evaluations.attempts_and_cost")}>
        <AttemptFacts report={report} />
      </Section>
      {report.suites.map((suite) => (
        <Section key={suite.suite} title={suite.suite || t("evaluations.no_suite")}>
          <SuiteFigures suite={suite} />
          <ResultCurves after={{ name, result: suite }} before={earlier(suite.suite)} />
        </Section>
      ))}
      <Section title={t("evaluations.tasks")}>
        {report.tasks.length === 0 ? <Empty title={t("evaluations.no_tasks")} /> : <Tasks tasks={report.tasks} name={name} before={before} />}
      </Section>
    </>
  );
}

/** Attempts that count, excluded attempts, and the cost of all. */
function AttemptFacts({ report: { attempts, judged, judge, left_out, infrastructure, cost_usd, human_tasks, suites } }: { report: Evaluation }) {
  const { t, language } = useI18n();
  const solved = suites.reduce((sum, { successes }) => sum + successes.successes, 0);
  const money = (amount: number) => dollars(amount, language);
  return (
    <Facts
      facts={[
        [t("evaluations.attempts"), attempts],
        [t("evaluations.left_out"), t("evaluations.left_out.value", left_out)],
        [t("evaluations.lost"), infrastructure],
        ...(judged > 0 ? ([[t("evaluations.judged"), `${judged} (${judge})`]] as const) : []),
        ...(human_tasks > 0 ? ([[t("evaluations.human_tasks"), human_tasks]] as const) : []),
        [t("evaluations.cost"), cost_usd === null ? t("evaluations.cost.none") : money(cost_usd)],
        ...(cost_usd !== null && attempts > 0 ? ([[t("evaluations.cost.attempt"), money(cost_usd / attempts)]] as const) : []),
        ...(cost_usd !== null && solved > 0 ? ([[t("evaluations.cost.success"), money(cost_usd / solved)]] as const) : []),
      ]}
    />
  );
}

function SuiteFigures({ suite }: { suite: SuiteResult }) {
  const { t } = useI18n();
  const { number, scoreText, stepsText, spreadText } = useFigures();
  const { tasks, runs, human, normalised } = suite;
  return (
    <Facts
      facts={[
        [t("evaluations.success"), <RateText key="rate" rate={suite.successes} />],
        [t("evaluations.score"), scoreText(suite)],
        ...(normalised === null ? [] : ([[t("evaluations.normalised"), number(normalised, 2)]] as const)),
        ...(human === null ? [] : ([[t("evaluations.human"), number(human, 1)]] as const)),
        [t("evaluations.of_tasks"), spreadText(tasks)],
        ...(runs && runs.count > 1 ? ([[t("evaluations.of_runs"), spreadText(runs)]] as const) : []),
        [t("evaluations.steps"), stepsText(suite)],
        [t("evaluations.reply_tokens"), number(suite.reply_tokens, 0)],
      ]}
    />
  );
}

function Tasks({ tasks, name, before }: { tasks: readonly TaskResult[]; name: string; before: Props["before"] }) {
  const { t } = useI18n();
  const { number, scoreText, stepsText } = useFigures();
  const earlier = (task: TaskResult): Named | undefined => {
    const found = before?.report.tasks.find((each) => taskName(each) === taskName(task));
    return found && before ? { name: before.name, result: found } : undefined;
  };
  return (
    <DataTable
      rows={tasks}
      keyOf={taskName}
      columns={[
        { header: t("evaluations.task"), kind: "name", cell: taskName },
        { header: t("evaluations.success"), kind: "number", cell: ({ successes }) => <RateText rate={successes} /> },
        { header: t("evaluations.pass_at"), help: t("evaluations.pass_at.help"), kind: "number", cell: (task) => <PassAtText task={task} /> },
        { header: t("evaluations.score"), kind: "number", cell: scoreText },
        { header: t("evaluations.steps"), help: t("evaluations.steps.help"), kind: "number", cell: stepsText },
        { header: t("evaluations.reply_tokens"), kind: "number", cell: ({ reply_tokens }) => number(reply_tokens, 0) },
      ]}
      details={{
        header: t("evaluations.curves"),
        ariaLabel: (task) => t("evaluations.curves_of", { task: taskName(task) }),
        body: (task) => <ResultCurves after={{ name, result: task }} before={earlier(task)} />,
      }}
    />
  );
}

function PassAtText({ task }: { task: TaskResult }) {
  const { t, percent } = useI18n();
  const last = task.pass_at.at(-1);
  return <>{last === undefined ? "–" : t("evaluations.pass_at.value", { rate: percent(last.rate), k: last.k })}</>;
}

type Fact = readonly [string, ReactNode];

function Facts({ facts }: { facts: readonly Fact[] }) {
  return (
    <dl className={styles.facts}>
      {facts.map(([label, value]) => (
        <div key={label}>
          <dt>{label}</dt>
          <dd>{value}</dd>
        </div>
      ))}
    </dl>
  );
}

/** The texts of figures that belong together. */
function useFigures() {
  const { number, percent } = useI18n();
  return {
    number,
    scoreText: ({ score, score_low: low, score_high: high }: Pick<TaskResult, "score" | "score_low" | "score_high">): string =>
      number(score, 2) + (low !== null && high !== null ? ` (${number(low, 2)}–${number(high, 2)})` : ""),
    stepsText: ({ steps, steps_of_successes }: Pick<TaskResult, "steps" | "steps_of_successes">): string =>
      number(steps, 1) + (steps_of_successes === null ? "" : ` (${number(steps_of_successes, 1)})`),
    spreadText: ({ mean, deviation, count }: SuiteResult["tasks"]): string =>
      `${percent(mean, 1)}${deviation === null ? "" : ` ± ${number(100 * deviation, 1)}`} (${number(count)})`,
  };
}
