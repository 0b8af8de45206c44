/** One turn: its stages, where each sample went and why, what was trained, and what the gate said. */
import { Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { Link } from "react-router";

import type { CheckpointOut, StageOut, TurnOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { reasonText } from "@/shared/ui/gate-reason";
import { Page, Section } from "@/shared/ui/page";
import { RateText } from "@/shared/ui/tables/rate";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { turnQuery } from "./api";
import { Curves } from "./training-curves";
import styles from "./flywheel.module.css";
import { Lineage } from "./lineage";
import { Samples } from "./samples";
import { stageFacts, stageProblem } from "./stage-result";
import { TaskChanges } from "./task-changes";
import { GateBadge, Standing, TurnActions } from "./cycle-table";

export default function TurnPage({ turnId }: { turnId: string }) {
  const { t } = useI18n();
  const turn = useQuery(turnQuery(turnId));
  const number = turn.data?.row.number;
  return (
    <Page>
      <PagePath
        crumbs={[
          { label: t("flywheel.title"), to: "/flywheel" },
          { label: number === undefined ? "…" : t("flywheel.turn_named", { number }) },
        ]}
      />
      {turn.isPending && <Loading />}
      {turn.isError && !turn.data && <ErrorState error={turn.error} onRetry={() => void turn.refetch()} />}
      {turn.data && <Told turn={turn.data} />}
    </Page>
  );
}

function Told({ turn }: { turn: TurnOut }) {
  const { t } = useI18n();
  const { row } = turn;
  const untrained = t(row.state === "running" ? "flywheel.not_trained_yet" : "flywheel.nothing_trained");
  return (
    <>
      <Section
        title={t("flywheel.turn_of", { number: row.number, wheel: turn.wheel })}
        aside={<TurnActions turn={row} last={turn.last} />}
      >
        <p className={styles.note}>
          <Standing turn={row} />
        </p>
        {row.unheard && (
          <p role="status" className={styles.unheard}>
            <TriangleAlert size={16} aria-hidden />
            {t("flywheel.unheard")}
          </p>
        )}
        {row.stages.length > 0 && <Stages stages={row.stages} />}
      </Section>
      <Gate turn={turn} untrained={untrained} />
      <Section title={t("flywheel.samples")}>
        <Samples turn={row.id} routes={row.routes} />
      </Section>
      <Section title={t("flywheel.trained")}>
        {turn.checkpoints.length === 0 ? (
          <Empty title={untrained} />
        ) : (
          <Checkpoints checkpoints={turn.checkpoints} />
        )}
        <Curves curves={turn.curves} />
      </Section>
      {turn.played.length > 0 && (
        <Section title={t("flywheel.played")}>
          <DataTable
            rows={turn.played}
            keyOf={({ kind }) => kind}
            columns={[
              { head: t("flywheel.kind"), kind: "name", cell: ({ kind }) => kind },
              { head: t("flywheel.success"), kind: "number", cell: ({ rate }) => <RateText rate={rate} /> },
              { head: t("flywheel.chosen"), cell: ({ chosen }) => t(chosen ? "flywheel.yes" : "flywheel.no") },
            ]}
          />
        </Section>
      )}
    </>
  );
}

/** What the gate said, with its reasons, the two revisions task by task, and where people's episodes under each are side by side. */
function Gate({ turn: { row, compared }, untrained }: { turn: TurnOut; untrained: string }) {
  const i18n = useI18n();
  const { t } = i18n;
  return (
    <Section
      title={t("flywheel.gate")}
      aside={
        row.active &&
        row.revision && (
          <Anchor component={Link} to={`/compare?${new URLSearchParams({ left: row.active, right: row.revision }).toString()}`} size="sm">
            {t("flywheel.compare")}
          </Anchor>
        )
      }
    >
      <div className={styles.note}>
        <GateBadge turn={row} />{" "}
        {row.revision === "" ? (
          untrained
        ) : (
          <>
            {row.revision}: <RateText rate={row.success} /> · {row.active || t("policy.none")}: <RateText rate={row.success_before} />
          </>
        )}
      </div>
      {row.reasons.length > 0 && (
        <ul className={styles.reasons}>
          {row.reasons.map((reason) => (
            <li key={`${reason.code} ${reason.subject}`}>{reasonText(reason, i18n)}</li>
          ))}
        </ul>
      )}
      {compared.length > 0 && <TaskChanges turn={row.id} changes={compared} before={row.active} after={row.revision} />}
    </Section>
  );
}

function Stages({ stages }: { stages: readonly StageOut[] }) {
  const i18n = useI18n();
  const { t, moment } = i18n;
  const tone = { begun: "policy", done: "ok", failed: "danger" } as const;
  return (
    <DataTable
      rows={stages}
      keyOf={({ name }) => name}
      columns={[
        { head: t("flywheel.stage"), kind: "name", className: styles.whole, cell: ({ name }) => t(`flywheel.stage.${name}`) },
        { head: t("flywheel.state"), cell: ({ state }) => <Badge tone={tone[state]}>{t(`flywheel.stage_state.${state}`)}</Badge> },
        { head: t("flywheel.tries"), kind: "number", cell: ({ tries }) => tries },
        { head: t("flywheel.ended"), className: styles.whole, cell: ({ ended_at }) => (ended_at === null ? "–" : moment(ended_at)) },
        {
          head: t("flywheel.result"),
          cell: (stage) =>
            stage.code ? <code className={styles.result}>{stageProblem(stage, i18n)}</code> : stageFacts(stage.name, stage.result, i18n).join(" · ") || "–",
        },
      ]}
    />
  );
}

function Checkpoints({ checkpoints }: { checkpoints: readonly CheckpointOut[] }) {
  const { t } = useI18n();
  return (
    <DataTable
      rows={checkpoints}
      keyOf={({ id }) => id}
      columns={[
        { head: t("flywheel.phase"), kind: "name", cell: ({ phase }) => t(`flywheel.phase.${phase}`) },
        { head: t("flywheel.weights"), cell: ({ path, sha256 }) => <code title={path}>{sha256.slice(0, 12)}</code> },
        { head: t("flywheel.revision"), cell: ({ revision }) => revision || "–" },
        { head: t("flywheel.fresh"), kind: "number", cell: ({ fresh }) => fresh },
        { head: t("flywheel.earlier"), kind: "number", cell: ({ earlier }) => earlier },
        { head: t("flywheel.by_tasks"), kind: "number", cell: ({ played }) => played },
      ]}
      details={{
        head: t("flywheel.lineage"),
        named: ({ phase }) => t("flywheel.lineage_of", { phase: t(`flywheel.phase.${phase}`) }),
        body: ({ id }) => <Lineage checkpoint={id} />,
      }}
    />
  );
}
