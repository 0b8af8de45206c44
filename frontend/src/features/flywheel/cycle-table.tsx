/** Turns as rows: how far each is, what went where, how its revision did, and what the gate said. */
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

export function TurnTable({ wheel }: { wheel: WheelOut }) {
  const { t } = useI18n();
  return (
    <DataTable
      rows={wheel.turns}
      label={t("flywheel.turns_of", { wheel: wheel.name })}
      keyOf={(turn) => turn.id}
      columns={[
        {
          head: t("flywheel.turn_number"),
          kind: "name",
          cell: (turn) => (
            <Anchor component={Link} to={`/flywheel/${turn.id}`}>
              {t("flywheel.turn_named", { number: turn.number })}
            </Anchor>
          ),
        },
        { head: t("flywheel.state"), cell: (turn) => <Standing turn={turn} /> },
        { head: t("flywheel.route.sft"), kind: "number", cell: (turn) => turn.routes.sft },
        { head: t("flywheel.route.ct"), kind: "number", cell: (turn) => turn.routes.ct },
        { head: t("flywheel.route.none"), kind: "number", cell: (turn) => turn.routes.none },
        { head: t("flywheel.success"), kind: "number", cell: (turn) => <RateText rate={turn.success} bare /> },
        { head: t("flywheel.before"), kind: "number", cell: (turn) => <RateText rate={turn.success_before} bare /> },
        { head: t("flywheel.overridden"), kind: "number", cell: (turn) => <RateText rate={turn.overridden} bare /> },
        { head: t("flywheel.gate"), cell: (turn) => <GateBadge turn={turn} /> },
        { head: t("flywheel.actions"), kind: "actions", cell: (turn) => <TurnActions turn={turn} last={turn === wheel.turns[0]} /> },
      ]}
    />
  );
}

/** Where a turn stands: the stage it is at, or how it ended. */
export function Standing({ turn }: { turn: TurnRow }) {
  const { t } = useI18n();
  const done = turn.stages.filter(({ state }) => state === "done").length;
  const at = turn.stages.find(({ state }) => state !== "done");
  const stage = at && t(`flywheel.stage.${at.name}`);
  return (
    <>
      <Badge tone={TONES[turn.state]}>{t(`flywheel.state.${turn.state}`)}</Badge>{" "}
      {turn.unheard && (
        <>
          <Badge tone="warn" title={t("flywheel.unheard")}>
            {t("flywheel.no_worker")}
          </Badge>{" "}
        </>
      )}
      <span className={styles.quiet}>
        {turn.state === "done" ? turn.revision : `${stage ?? ""} ${t("flywheel.stages", { done, all: STAGES.length })}`}
      </span>
    </>
  );
}

export function GateBadge({ turn }: { turn: TurnRow }) {
  const { t } = useI18n();
  if (turn.passed === null) return <Badge tone="neutral">{t("flywheel.not_judged")}</Badge>;
  return <Badge tone={turn.passed ? "ok" : "danger"}>{t(turn.passed ? "flywheel.passed" : "flywheel.shut")}</Badge>;
}

/** For admins: stop what turns; have the last turn go on that broke off. */
export function TurnActions({ turn, last }: { turn: TurnRow; last: boolean }) {
  const { t } = useI18n();
  const change = useChange();
  const admin = hasRole(useUser(), "admin");
  const what = turn.state === "running" ? "cancel" : "resume";
  if (!admin || turn.state === "done" || (what === "resume" && !last)) return null;
  return (
    <>
      <Problem error={change.error} />
      <Button
        variant="default"
        size="compact-xs"
        loading={change.isPending}
        aria-label={t(`flywheel.${what}_one`, { number: turn.number })}
        onClick={() => change.mutate({ do: what, turn: turn.id })}
      >
        {t(`flywheel.${what}`)}
      </Button>
    </>
  );
}
