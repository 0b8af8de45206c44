/** Machines as rows: what they show, who has them until when, what they cost. */
import { Button } from "@mantine/core";
import { Link } from "react-router";

import type { Fleet, FleetMachine } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, type BadgeTone } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";

import { thumbnailUrl } from "./api";
import styles from "./machines.module.css";

const TONES: Readonly<Record<FleetMachine["state"], BadgeTone>> = {
  starting: "neutral",
  free: "ok",
  leased: "policy",
  resetting: "neutral",
  draining: "warn",
  stranded: "danger",
};

interface Props {
  readonly fleet: Fleet;
  readonly onWatch: (machine: FleetMachine) => void;
  readonly onReclaim: (machine: FleetMachine) => void;
}

export function MachineTable({ fleet, onWatch, onReclaim }: Props) {
  const { t, relative, percent, bytes, moment } = useI18n();
  return (
    <DataTable
      rows={fleet.machines}
      keyOf={(machine) => machine.id}
      columns={[
        { header: t("machines.machine"), kind: "name", cell: (machine) => <Machine machine={machine} at={fleet.at} /> },
        {
          header: t("machines.state"),
          cell: (machine) => (
            <>
              <Badge tone={TONES[machine.state]}>{t(`machines.state.${machine.state}`)}</Badge>
              <StateSince machine={machine} now={fleet.at} />
            </>
          ),
        },
        { header: t("machines.holder"), cell: (machine) => <Holder machine={machine} /> },
        {
          header: t("machines.last_act"),
          kind: "number",
          fullText: ({ last_act: acted }) => (acted === null ? undefined : moment(acted)),
          cell: ({ last_act: acted }) => (acted === null ? "–" : relative(acted, Date.parse(fleet.at))),
        },
        {
          header: t("machines.cpu"),
          kind: "number",
          cell: ({ cpu_share: cpu }) => (cpu === null ? "–" : percent(cpu)),
        },
        {
          header: t("machines.memory"),
          kind: "number",
          cell: ({ memory_bytes: memory }) => (memory === null ? "–" : bytes(memory)),
        },
        {
          header: t("machines.actions"),
          kind: "actions",
          cell: (machine) => (
            <>
              <Button
                variant="default"
                size="compact-xs"
                disabled={!machine.watchable}
                aria-label={t("machines.watch_one", { name: machine.id })}
                onClick={() => onWatch(machine)}
              >
                {t("machines.watch")}
              </Button>
              <Button
                variant="default"
                size="compact-xs"
                disabled={machine.state !== "leased"}
                aria-label={t("machines.reclaim_one", { name: machine.id })}
                onClick={() => onReclaim(machine)}
              >
                {t("machines.reclaim")}
              </Button>
            </>
          ),
        },
      ]}
    />
  );
}

function Machine({ machine, at }: { machine: FleetMachine; at: string }) {
  const { t } = useI18n();
  const pictured = machine.kind !== null && machine.kind !== "terminal";
  return (
    <div className={styles.machine}>
      <div className={styles.thumbnail}>
        {pictured && machine.state !== "starting" && (
          <img src={thumbnailUrl(machine.id, at)} alt={t("machines.shows", { name: machine.id })} />
        )}
      </div>
      <div>
        <strong className={styles.name}>{machine.id}</strong>
        <div className={styles.note}>
          {machine.kind === null ? machine.image : t(`machines.kind.${machine.kind}`)} · {machine.host}
        </div>
      </div>
    </div>
  );
}

/** Until when it is leased, else since when it is what it is. */
function StateSince({ machine, now }: { machine: FleetMachine; now: string }) {
  const { t, relative, moment } = useI18n();
  const at = machine.expires_at ?? machine.since;
  return (
    <div className={styles.note} title={moment(at)}>
      {machine.expires_at === null
        ? relative(at, Date.parse(now))
        : t("machines.lease_ends", { when: relative(at, Date.parse(now)) })}
    </div>
  );
}

function Holder({ machine }: { machine: FleetMachine }) {
  const { t } = useI18n();
  if (machine.holder === null) return null;
  const [role, holderId] = machine.holder.split(":");
  const twin = role === "twin";
  const episode = twin ? holderId : role === "episode" && machine.session;
  return (
    <>
      <div>{twin ? t("machines.twin") : (machine.user ?? machine.holder)}</div>
      {twin && <div className={styles.note}>{t("machines.twin.requests")}</div>}
      <div className={styles.note}>
        {machine.pool}
        {machine.pool && episode && " · "}
        {episode && <Link to={`/episodes/${episode}`}>{t("machines.episode")}</Link>}
      </div>
    </>
  );
}
