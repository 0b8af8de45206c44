/** Two attempts at the gate side by side, at one task and seed: the active revision's and that of what the turn made. */
import { useQuery } from "@tanstack/react-query";
import { Navigate, useSearchParams } from "react-router";

import type { TrialsBeside, TurnRow } from "@/generated/api";
import { Beside, type BesideAttempt } from "@/shared/comparison/attempt-comparison";
import { useI18n } from "@/shared/i18n/i18n";
import { OutcomeBadge, VerdictBadge } from "@/shared/ui/badge";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { turnQuery } from "@/features/flywheel/api";
import styles from "@/features/flywheel/flywheel.module.css";
import { besideQuery, trialPictures, type Side } from "./api";

export default function BesidePage({ turnId }: { turnId: string }) {
  const [search] = useSearchParams();
  const [active, candidate] = [search.get("active"), search.get("candidate")];
  if (!active || !candidate) return <Navigate replace to={`/flywheel/${turnId}`} />;
  return <Attempts key={`${active} ${candidate}`} turnId={turnId} active={active} candidate={candidate} />;
}

type AttemptsProps = { turnId: string; active: string; candidate: string };

function Attempts({ turnId, active, candidate }: AttemptsProps) {
  const { t } = useI18n();
  const turn = useQuery(turnQuery(turnId));
  const beside = useQuery(besideQuery(turnId, active, candidate));
  const refused = [turn, beside].find(({ isError, data }) => isError && !data);
  const number = turn.data?.row.number;
  return (
    <>
      <PagePath
        crumbs={[
          { label: t("flywheel.title"), to: "/flywheel" },
          { label: number === undefined ? "…" : t("flywheel.turn_named", { number }), to: `/flywheel/${turnId}` },
          { label: beside.data ? t("trials.at", { task: beside.data.kind, seed: String(beside.data.seed) }) : t("trials.beside") },
        ]}
      />
      {refused && <ErrorState error={refused.error} onRetry={() => void refused.refetch()} />}
      {!refused && (!turn.data || !beside.data) && <Loading />}
      {turn.data && beside.data && <Both row={turn.data.row} beside={beside.data} places={{ active, candidate }} />}
    </>
  );
}

type BothProps = { row: TurnRow; beside: TrialsBeside; places: Record<Side, string> };

function Both({ row, beside, places }: BothProps) {
  const names = { active: row.active, candidate: row.revision };
  const side = (name: Side): BesideAttempt => ({
    name: names[name],
    steps: beside[name].steps,
    blobUrl: trialPictures(row.id, name, places[name]),
    head: () => <Whose name={names[name]} side={name} beside={beside} />,
  });
  return <Beside title={beside.instruction} told={beside} one={side("active")} other={side("candidate")} />;
}

/** Which revision it is, how it ended, and after how many steps. */
function Whose({ name, side, beside }: { name: string; side: Side; beside: TrialsBeside }) {
  const { t } = useI18n();
  const { outcome, verdict, steps } = beside[side];
  return (
    <>
      <strong>{name}</strong>
      <span className={styles.quiet}>{t(`trials.side.${side}`)}</span>
      {verdict?.success == null ? <OutcomeBadge outcome={outcome} /> : <VerdictBadge verdict={verdict} />}
      <span className={styles.quiet}>{t("trials.steps", { count: steps.length })}</span>
    </>
  );
}
