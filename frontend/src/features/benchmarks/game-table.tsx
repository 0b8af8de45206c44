/** Of a set of games: what each run came to in each game, with the harness and without. */
import type { LeaderboardRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./benchmarks.module.css";

/** Nothing where no run is of a set of games. */
export function GameTable({ rows }: { rows: readonly LeaderboardRow[] }) {
  const { t } = useI18n();
  const names = [...new Set(rows.flatMap((row) => row.games.map((game) => game.name)))];
  if (names.length === 0) return null;
  return (
    <>
      <p className={styles.note}>{t("benchmarks.games.help")}</p>
      <DataTable
        rows={rows}
        keyOf={(row) => row.run}
        label={t("benchmarks.games")}
        columns={[
          {
            header: t("benchmarks.policy"),
            kind: "name",
            cell: (row) => (
              <strong className={styles.name}>
                {row.policy} {row.revision}
              </strong>
            ),
          },
          { header: t("benchmarks.harness.column"), help: t("benchmarks.harness.help"), cell: (row) => t(row.harness ? "benchmarks.harness.with" : "benchmarks.harness.without") },
          ...names.map((name) => ({ header: name, kind: "number" as const, cell: (row: LeaderboardRow) => <Game row={row} name={name} /> })),
          { header: t("benchmarks.games.mean"), kind: "number", cell: (row) => row.games_mean?.toFixed(1) ?? "–" },
        ]}
      />
    </>
  );
}

function Game({ row, name }: { row: LeaderboardRow; name: string }) {
  const game = row.games.find((each) => each.name === name);
  if (game === undefined) return <>–</>;
  return (
    <>
      {game.raw.toFixed(1)} <span className={styles.note}>({game.normalised.toFixed(0)})</span>
    </>
  );
}
