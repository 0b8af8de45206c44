/** Two attempts at the gate side by side, at one task and seed: the active revision's and that of what the cycle made. */
import { useQuery } from "@tanstack/react-query";
import { Navigate, useSearchParams } from "react-router";

import type { TrialComparison, TurnRow } from "@/generated/api";
import { AttemptComparison, type ComparedAttempt } from "@/shared/comparison/attempt-comparison";
import { useI18n } from "@/shared/i18n/i18n";
import { OutcomeBadge, VerdictBadge } from "@/shared/ui/badge";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { cycleQuery } from "@/features/flywheel/api";
import styles from "@/features/flywheel/flywheel.module.css";
import { trialComparisonQuery, trialPictures, type Side } from "./api";

export default function TrialComparisonPage({ cycleId }: { cycleId: string }) {
  const [search] = useSearchParams();
  const [active, candidate] = [search.get("active"), search.get("candidate")];
  if (!active || !candidate) return <Navigate replace to={`/flywheel/${cycleId}`} />;
  return <TrialComparison key={`${active} ${candidate}`} cycleId={cycleId} active={active} candidate={candidate} />;
}

type TrialComparisonProps = { cycleId: string; active: string; candidate: string };

function TrialComparison({ cycleId, active, candidate }: TrialComparisonProps) {
  const { t } = useI18n();
  const cycle = useQuery(cycleQuery(cycleId));
  const comparison = useQuery(trialComparisonQuery(cycleId, active, candidate));
  const failed = [cycle, comparison].find(({ isError, data }) => isError && !data);
  const number = cycle.data?.row.number;
  return (
    <>
      <PagePath
        crumbs={[
          { label: t("flywheel.title"), to: "/flywheel" },
          { label: number === undefined ? "…" : t("flywheel.cycle_named", { number }), to: `/flywheel/${cycleId}` },
          { label: comparison.data ? t("trials.at", { task: comparison.data.kind, seed: String(comparison.data.seed) }) : t("trials.comparison") },
        ]}
      />
      {failed && <ErrorState error={failed.error} onRetry={() => void failed.refetch()} />}
      {!failed && (!cycle.data || !comparison.data) && <Loading />}
      {cycle.data && comparison.data && <AlignedTrials row={cycle.data.row} comparison={comparison.data} places={{ active, candidate }} />}
    </>
  );
}

type AlignedTrialsProps = { row: TurnRow; comparison: TrialComparison; places: Record<Side, string> };

function AlignedTrials({ row, comparison, places }: AlignedTrialsProps) {
  const names = { active: row.active, candidate: row.revision };
  const side = (name: Side): ComparedAttempt => ({
    name: names[name],
    steps: comparison[name].steps,
    blobUrl: trialPictures(row.id, name, places[name]),
    renderHeader: () => <TrialHeader name={names[name]} side={name} comparison={comparison} />,
  });
  return <AttemptComparison title={comparison.instruction} alignment={comparison} one={side("active")} other={side("candidate")} />;
}

/** Which revision it is, how it ended, and after how many steps. */
function TrialHeader({ name, side, comparison }: { name: string; side: Side; comparison: TrialComparison }) {
  const { t } = useI18n();
  const { outcome, verdict, steps } = comparison[side];
  return (
    <>
      <strong>{name}</strong>
      <span className={styles.quiet}>{t(`trials.side.${side}`)}</span>
      {verdict?.success == null ? <OutcomeBadge outcome={outcome} /> : <VerdictBadge verdict={verdict} />}
      <span className={styles.quiet}>{t("trials.steps", { count: steps.length })}</span>
    </>
  );
}
