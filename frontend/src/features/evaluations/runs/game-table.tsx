/** The score of each run in each game, with and without the harness. */
import { policyLabel } from "@/features/evaluations/policy-label";
import type { LeaderboardRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Section } from "@/shared/ui/page";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./benchmarks.module.css";

/** Renders nothing for benchmarks without games. */
export function GameTable({ benchmark, rows }: { benchmark: string; rows: readonly LeaderboardRow[] }) {
  const { t, number } = useI18n();
  const names = [...new Set(rows.flatMap((row) => row.games.map((game) => game.name)))];
  if (names.length === 0) return null;
  return (
    <Section title={t("benchmarks.games", { name: benchmark })}>
      <p className={styles.lead}>{t("benchmarks.games.help")}</p>
      <DataTable
        rows={rows}
        keyOf={(row) => row.run}
        label={t("benchmarks.games", { name: benchmark })}
        columns={[
          {
            header: t("benchmarks.policy"),
            kind: "name",
            cell: (row) => (
              <strong className={styles.short}>{policyLabel(row, t)}</strong>
            ),
          },
          { header: t("benchmarks.harness.column"), help: t("benchmarks.harness.help"), cell: (row) => <span className={styles.short}>{t(row.harness ? "benchmarks.harness.with" : "benchmarks.harness.without")}</span> },
          ...names.map((name) => ({ header: name, kind: "number" as const, cell: (row: LeaderboardRow) => <Game row={row} name={name} /> })),
          { header: t("benchmarks.games.mean"), kind: "number", cell: (row) => number(row.games_mean, 1) },
        ]}
      />
    </Section>
  );
}

function Game({ row, name }: { row: LeaderboardRow; name: string }) {
  const { number } = useI18n();
  const game = row.games.find((each) => each.name === name);
  if (game === undefined) return <>–</>;
  return (
    <>
      {number(game.raw, 1)} <span className={styles.note}>({number(game.normalised, 0)})</span>
    </>
  );
}
