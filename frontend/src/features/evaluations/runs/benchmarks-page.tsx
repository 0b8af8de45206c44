/** Benchmark runs: how far each is, what is being attempted now, and how finished runs of the same tasks compare. */
import { useQuery } from "@tanstack/react-query";
import { Fragment } from "react";

import type { BenchmarksPage as Benchmarks } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { benchmarksQuery } from "./api";
import { GameTable } from "./game-table";
import { LeaderboardTable } from "./leaderboard-table";
import { RunTable } from "./run-table";
import { StartButton } from "./start-dialog";
import styles from "./benchmarks.module.css";

export default function BenchmarksPage() {
  const { t } = useI18n();
  const benchmarks = useQuery(benchmarksQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("benchmarks.title") }]} />
      {benchmarks.isPending && <Loading />}
      {benchmarks.isError && !benchmarks.data && <ErrorState error={benchmarks.error} onRetry={() => void benchmarks.refetch()} />}
      {benchmarks.data && <Overview page={benchmarks.data} />}
    </Page>
  );
}

function Overview({ page: { runs, leaderboards, unreadable } }: { page: Benchmarks }) {
  const { t } = useI18n();
    return (
    <>
      <Section
        title={t("benchmarks.runs")}
        aside={<StartButton />}
      >
        {runs.length === 0 ? <Empty title={t("benchmarks.none")}>{t("benchmarks.none.help")}</Empty> : <RunTable runs={runs} />}
        {unreadable.length > 0 && <p className={styles.failed}>{t("benchmarks.unreadable", { names: unreadable.join(", ") })}</p>}
      </Section>
      {leaderboards.map((board) => (
        <Fragment key={`${board.tasks_sha256} ${board.verifiers_sha256}`}>
          <Section title={t("benchmarks.leaderboard", { name: board.name })}>
            <p className={styles.lead}>{t("benchmarks.leaderboard.help", { count: board.tasks, tasks: board.tasks_sha256.slice(0, 12) })}</p>
            <LeaderboardTable rows={board.rows} />
          </Section>
          <GameTable benchmark={board.name} rows={board.rows} />
        </Fragment>
      ))}
    </>
  );
}
