/** Runs over the same tasks and verifiers, the best score first, and whether each differs from the first by more than chance. */
import { Anchor } from "@mantine/core";
import { Link } from "react-router";

import { policyLabel } from "@/features/evaluations/policy-label";
import type { LeaderboardRow } from "@/generated/api";
import { dollars } from "@/shared/i18n/dollars";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";
import { RateText } from "@/shared/ui/tables/rate";

import styles from "./benchmarks.module.css";

export function LeaderboardTable({ rows }: { rows: readonly LeaderboardRow[] }) {
  const { t, language, number } = useI18n();
  return (
    <DataTable
      rows={rows}
      keyOf={(row) => row.run}
      columns={[
        {
          header: t("benchmarks.policy"),
          kind: "name",
          cell: (row) => (
            <>
              <Anchor component={Link} to={`/evaluations/run:${row.run}`} className={styles.name}>
                {policyLabel(row, t)}
              </Anchor>
              <div className={styles.note}>{row.how}</div>
            </>
          ),
        },
        {
          header: t("benchmarks.success"),
          kind: "number",
          cell: ({ success, success_low: low, success_high: high, attempts }) => (
            <RateText rate={{ successes: Math.round(success * attempts), attempts, rate: success, low, high }} />
          ),
        },
        { header: t("benchmarks.score"), help: t("benchmarks.score.help"), kind: "number", cell: (row) => <Score row={row} /> },
        { header: t("benchmarks.normalised"), help: t("benchmarks.normalised.help"), kind: "number", cell: (row) => number(row.normalised, 2) },
        { header: t("benchmarks.human"), help: t("benchmarks.human.help"), kind: "number", cell: (row) => number(row.human, 1) },
        { header: t("benchmarks.steps"), kind: "number", cell: (row) => number(row.steps, 1) },
        { header: t("benchmarks.cost"), kind: "number", cell: (row) => (row.cost_usd === null ? "–" : dollars(row.cost_usd, language)) },
        { header: t("benchmarks.lost"), help: t("benchmarks.lost.help"), kind: "number", cell: (row) => row.infrastructure },
        { header: t("benchmarks.finding"), help: t("benchmarks.finding.help"), cell: ({ finding }) => (finding === null ? "–" : t(`benchmarks.finding.${finding}`)) },
      ]}
    />
  );
}

function Score({ row: { score, score_low: low, score_high: high } }: { row: LeaderboardRow }) {
  const { number } = useI18n();
  return (
    <>
      {number(score, 2)}
      {low !== null && high !== null && (
        <span className={styles.note}>
          {" "}
          ({number(low, 2)}–{number(high, 2)})
        </span>
      )}
    </>
  );
}
