/** One cycle: its stages, where each sample went and why, what was trained, and what the gate said. */
import { Anchor } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { TriangleAlert } from "lucide-react";
import { Link } from "react-router";

import type { PeopleTime, StageOut, TurnOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { reasonText } from "@/shared/ui/gate-reason";
import { Page, Section } from "@/shared/ui/page";
import { RateText } from "@/shared/ui/tables/rate";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { cycleQuery } from "./api";
import { TrainingCurves } from "./training-curves";
import { trainingName } from "./figures";
import styles from "./flywheel.module.css";
import { Lineage } from "./lineage";
import { RegisterCheckpoint } from "./register-checkpoint";
import { Samples } from "./samples";
import { stageFacts, stageProblem } from "./stage-result";
import { TaskChanges } from "./task-changes";
import { GateBadge, CycleStatus, CycleActions } from "./cycle-table";

export default function CyclePage({ cycleId }: { cycleId: string }) {
  const { t } = useI18n();
  const cycle = useQuery(cycleQuery(cycleId));
  const number = cycle.data?.row.number;
  return (
    <Page>
      <PagePath
        crumbs={[
          { label: t("flywheel.title"), to: "/flywheel" },
          { label: number === undefined ? "…" : t("flywheel.cycle_named", { number }) },
        ]}
      />
      {cycle.isPending && <Loading />}
      {cycle.isError && !cycle.data && <ErrorState error={cycle.error} onRetry={() => void cycle.refetch()} />}
      {cycle.data && <CycleDetails cycle={cycle.data} />}
    </Page>
  );
}

function CycleDetails({ cycle }: { cycle: TurnOut }) {
  const { t } = useI18n();
  const { row } = cycle;
  const untrained = t(row.state === "running" ? "flywheel.not_trained_yet" : "flywheel.nothing_trained");
  return (
    <>
      <Section
        title={t("flywheel.cycle_of", { number: row.number, flywheel: cycle.wheel })}
        aside={<CycleActions cycle={row} last={cycle.last} />}
      >
        <p className={styles.note}>
          <CycleStatus cycle={row} />
        </p>
        {row.unheard && (
          <p role="status" className={styles.unheard}>
            <TriangleAlert size={16} aria-hidden />
            {t("flywheel.unheard")}
          </p>
        )}
        {row.stages.length > 0 && <Stages stages={row.stages} />}
      </Section>
      <Gate cycle={cycle} untrained={untrained} />
      {row.people && <People people={row.people} />}
      <Section title={t("flywheel.samples")}>
        <Samples cycle={row.id} routes={row.routes} />
      </Section>
      <Section title={t("flywheel.trained")}>
        {cycle.checkpoints.length === 0 ? (
          <Empty title={untrained} />
        ) : (
          <Checkpoints cycle={cycle} />
        )}
        <TrainingCurves cycle={cycle} />
      </Section>
      {cycle.played.length > 0 && (
        <Section title={t("flywheel.played")}>
          <DataTable
            rows={cycle.played}
            keyOf={({ kind }) => kind}
            columns={[
              { header: t("flywheel.kind"), kind: "name", cell: ({ kind }) => kind },
              { header: t("flywheel.success"), kind: "number", cell: ({ rate }) => <RateText rate={rate} /> },
              { header: t("flywheel.chosen"), cell: ({ chosen }) => t(chosen ? "flywheel.yes" : "flywheel.no") },
            ]}
          />
        </Section>
      )}
    </>
  );
}

/** What the gate said, with its reasons, the two revisions task by task, and where people's episodes under each are side by side. */
function Gate({ cycle: { row, compared, evaluation }, untrained }: { cycle: TurnOut; untrained: string }) {
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
        <GateBadge cycle={row} />{" "}
        {row.revision === "" ? (
          untrained
        ) : (
          <>
            {row.revision}: <RateText rate={row.success} /> · {row.active || t("policy.none")}: <RateText rate={row.success_before} />
          </>
        )}
      </div>
      {evaluation !== null && (
        <p className={styles.note}>
          <Anchor component={Link} to={`/evaluations/${evaluation}`}>
            {t("flywheel.evaluation")}
          </Anchor>
        </p>
      )}
      {row.reasons.length > 0 && (
        <ul className={styles.reasons}>
          {row.reasons.map((reason) => (
            <li key={`${reason.code} ${reason.subject}`}>{reasonText(reason, i18n)}</li>
          ))}
        </ul>
      )}
      {compared.length > 0 && <TaskChanges cycle={row.id} changes={compared} before={row.active} after={row.revision} />}
    </Section>
  );
}

/** What people did in the episodes of the cycle, and what an hour of it gained at the gate. */
function People({ people }: { people: PeopleTime }) {
  const { t, number, signed } = useI18n();
  const points = (share: number) => signed(share * 100, 1);
  const hours = number(people.hours, 2);
  return (
    <Section title={t("flywheel.people")}>
      <p className={styles.note}>
        {t("flywheel.people.done", { hours, episodes: people.episodes, judged: people.judged, corrected: people.corrected })}{" "}
        {people.gain === null ? t("flywheel.people.no_gain") : t("flywheel.people.gain", { points: points(people.gain) })}
        {people.gain_per_hour !== null && <> {t("flywheel.people.per_hour", { points: points(people.gain_per_hour) })}</>}
      </p>
      <p className={styles.note}>
        <span className={styles.quiet}>{t("flywheel.people.help")}</span>
      </p>
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
        { header: t("flywheel.stage"), kind: "name", className: styles.whole, cell: ({ name }) => t(`flywheel.stage.${name}`) },
        { header: t("flywheel.state"), cell: ({ state }) => <Badge tone={tone[state]}>{t(`flywheel.stage_state.${state}`)}</Badge> },
        { header: t("flywheel.tries"), kind: "number", cell: ({ tries }) => tries },
        { header: t("flywheel.ended"), className: styles.whole, cell: ({ ended_at }) => (ended_at === null ? "–" : moment(ended_at)) },
        {
          header: t("flywheel.result"),
          cell: (stage) =>
            stage.code ? <code className={styles.result}>{stageProblem(stage, i18n)}</code> : stageFacts(stage.name, stage.result, i18n).join(" · ") || "–",
        },
      ]}
    />
  );
}

function Checkpoints({ cycle }: { cycle: TurnOut }) {
  const { t } = useI18n();
  const admin = hasRole(useUser(), "admin");
  return (
    <DataTable
      rows={cycle.checkpoints}
      keyOf={({ id }) => id}
      columns={[
        { header: t("flywheel.phase"), kind: "name", cell: (checkpoint) => trainingName(checkpoint, t) },
        { header: t("flywheel.weights"), cell: ({ path, sha256 }) => <code title={path}>{sha256.slice(0, 12)}</code> },
        {
          header: t("flywheel.revision"),
          cell: (checkpoint) => checkpoint.revision || (admin && cycle.row.state !== "running" ? <RegisterCheckpoint cycle={cycle} checkpoint={checkpoint} /> : "–"),
        },
        { header: t("flywheel.fresh"), kind: "number", cell: ({ fresh }) => fresh },
        { header: t("flywheel.earlier"), kind: "number", cell: ({ earlier }) => earlier },
        { header: t("flywheel.by_tasks"), kind: "number", cell: ({ played }) => played },
      ]}
      details={{
        header: t("flywheel.lineage"),
        ariaLabel: (checkpoint) => t("flywheel.lineage_of", { phase: trainingName(checkpoint, t) }),
        body: ({ id }) => <Lineage checkpoint={id} />,
      }}
    />
  );
}
