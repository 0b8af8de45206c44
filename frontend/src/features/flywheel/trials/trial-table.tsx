/** A task of the gate seed by seed: whether the active revision and the candidate solved it, those that differ first. */
import { Anchor, Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import type { SeedTrials, Trial } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, OutcomeBadge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import styles from "@/features/flywheel/flywheel.module.css";
import { trialComparisonPath, trialsQuery, type Task } from "./api";

/** Seeds that are shown at first, and once more each time. */
const PAGE_SIZE = 20;

type Props = { cycle: string; task: Task; before: string; after: string };

export function TrialTable({ cycle, task, before, after }: Props) {
  const { t } = useI18n();
  const [visibleCount, setVisibleCount] = useState(PAGE_SIZE);
  const trials = useQuery(trialsQuery(cycle, task));
  if (trials.isPending) return <Loading />;
  if (trials.isError) return <ErrorState error={trials.error} onRetry={() => void trials.refetch()} />;
  const rows = trials.data;
  if (rows.length === 0) return <Empty title={t("trials.none")} />;
  return (
    <>
      <DataTable
        label={t("trials.seeds")}
        rows={rows.slice(0, visibleCount)}
        keyOf={(row) => `${row.active?.place ?? ""} ${row.candidate?.place ?? ""}`}
        columns={[
          { header: t("trials.seed"), kind: "name", cell: (row) => <SeedLink cycle={cycle} row={row} /> },
          { header: before, cell: ({ active }) => <TrialResult trial={active} /> },
          { header: after, cell: ({ candidate }) => <TrialResult trial={candidate} /> },
          { header: t("trials.solved_by"), cell: (row) => solvedBy(row, t) },
        ]}
      />
      {visibleCount < rows.length && (
        <div className={styles.note}>
          <Button variant="default" size="compact-sm" onClick={() => setVisibleCount(visibleCount + PAGE_SIZE)}>
            {t("trials.more", { count: rows.length - visibleCount })}
          </Button>
        </div>
      )}
    </>
  );
}

/** The way to both attempts side by side; a seed that only one of them tried has none. */
function SeedLink({ cycle, row }: { cycle: string; row: SeedTrials }) {
  const { t } = useI18n();
  const path = trialComparisonPath(cycle, row);
  if (path === null) return <>{row.seed}</>;
  return (
    <Anchor component={Link} to={path} aria-label={t("trials.open", { seed: String(row.seed) })}>
      {row.seed}
    </Anchor>
  );
}

function TrialResult({ trial }: { trial: Trial | null }) {
  const { t } = useI18n();
  if (trial === null) return <>{t("trials.not_tried")}</>;
  const { solved, outcome, steps } = trial;
  return (
    <>
      {solved === null ? <OutcomeBadge outcome={outcome} /> : <Badge tone={solved ? "ok" : "danger"}>{t(solved ? "trials.solved" : "trials.failed")}</Badge>}{" "}
      <span className={styles.quiet}>{t("trials.steps", { count: steps })}</span>
    </>
  );
}

function solvedBy({ active, candidate }: SeedTrials, t: ReturnType<typeof useI18n>["t"]): string {
  if (active?.solved) return t(candidate?.solved ? "trials.both" : "trials.only_active");
  return t(candidate?.solved ? "trials.only_candidate" : "trials.neither");
}
