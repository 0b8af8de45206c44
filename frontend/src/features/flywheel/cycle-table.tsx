/** Cycles as rows: how far each is, what went where, how its revision did, and what the gate said. */
import { Anchor, Button } from "@mantine/core";
import { Link } from "react-router";

import type { TurnRow, WheelOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";
import { RateText } from "@/shared/ui/tables/rate";

import { STAGES, useChange } from "./api";
import styles from "./flywheel.module.css";

const TONES = { running: "policy", done: "ok", failed: "danger", cancelled: "neutral" } as const;

export function CycleTable({ flywheel }: { flywheel: WheelOut }) {
  const { t } = useI18n();
  return (
    <DataTable
      rows={flywheel.turns}
      label={t("flywheel.cycles_of", { flywheel: flywheel.name })}
      keyOf={(cycle) => cycle.id}
      columns={[
        {
          header: t("flywheel.cycle"),
          kind: "name",
          cell: (cycle) => (
            <Anchor component={Link} to={`/flywheel/${cycle.id}`}>
              {t("flywheel.cycle_named", { number: cycle.number })}
            </Anchor>
          ),
        },
        { header: t("flywheel.state"), cell: (cycle) => <CycleStatus cycle={cycle} /> },
        { header: t("flywheel.route.sft"), kind: "number", cell: (cycle) => cycle.routes.sft },
        { header: t("flywheel.route.ct"), kind: "number", cell: (cycle) => cycle.routes.ct },
        { header: t("flywheel.route.none"), kind: "number", cell: (cycle) => cycle.routes.none },
        { header: t("flywheel.success"), kind: "number", cell: (cycle) => <RateText rate={cycle.success} bare /> },
        { header: t("flywheel.before"), kind: "number", cell: (cycle) => <RateText rate={cycle.success_before} bare /> },
        { header: t("flywheel.overridden"), kind: "number", cell: (cycle) => <RateText rate={cycle.overridden} bare /> },
        { header: t("flywheel.gate"), cell: (cycle) => <GateBadge cycle={cycle} /> },
        { header: t("flywheel.actions"), kind: "actions", cell: (cycle) => <CycleActions cycle={cycle} last={cycle === flywheel.turns[0]} /> },
      ]}
    />
  );
}

/** The stage that a cycle is at, or how it ended. */
export function CycleStatus({ cycle }: { cycle: TurnRow }) {
  const { t } = useI18n();
  const done = cycle.stages.filter(({ state }) => state === "done").length;
  const at = cycle.stages.find(({ state }) => state !== "done");
  const stage = at && t(`flywheel.stage.${at.name}`);
  return (
    <>
      <Badge tone={TONES[cycle.state]}>{t(`flywheel.state.${cycle.state}`)}</Badge>{" "}
      {cycle.unheard && (
        <>
          <Badge tone="warn" title={t("flywheel.unheard")}>
            {t("flywheel.no_worker")}
          </Badge>{" "}
        </>
      )}
      <span className={styles.quiet}>
        {cycle.state === "done" ? cycle.revision : `${stage ?? ""} ${t("flywheel.stages", { done, all: STAGES.length })}`}
      </span>
    </>
  );
}

export function GateBadge({ cycle }: { cycle: TurnRow }) {
  const { t } = useI18n();
  if (cycle.passed === null) return <Badge tone="neutral">{t("flywheel.not_judged")}</Badge>;
  if (!cycle.passed) return <Badge tone="danger">{t("flywheel.not_passed")}</Badge>;
  const better = cycle.gain === null || cycle.gain > 0;
  return <Badge tone={better ? "ok" : "warn"}>{t(better ? "flywheel.passed" : "flywheel.passed_not_better")}</Badge>;
}

/** For admins: stops a running cycle, or resumes the last one after a failure. */
export function CycleActions({ cycle, last }: { cycle: TurnRow; last: boolean }) {
  const { t } = useI18n();
  const change = useChange();
  const admin = hasRole(useUser(), "admin");
  const what = cycle.state === "running" ? "cancel" : "resume";
  if (!admin || cycle.state === "done" || (what === "resume" && !last)) return null;
  return (
    <>
      <Problem error={change.error} />
      <Button
        variant="default"
        size="compact-xs"
        loading={change.isPending}
        aria-label={t(`flywheel.${what}_one`, { number: cycle.number })}
        onClick={() => change.mutate({ type: what, cycle: cycle.id })}
      >
        {t(`flywheel.${what}`)}
      </Button>
    </>
  );
}
