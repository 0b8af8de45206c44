/** Machines as rows: what they show, who has them until when, what they cost. */
import { Button, Table, VisuallyHidden } from "@mantine/core";
import { Link } from "react-router";

import type { Fleet, FleetMachine } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, type BadgeTone } from "@/shared/ui/badge";

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
  const { t } = useI18n();
  return (
    <Table className={styles.table} highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("machines.machine")}</Table.Th>
          <Table.Th>{t("machines.state")}</Table.Th>
          <Table.Th>{t("machines.holder")}</Table.Th>
          <Table.Th className={styles.number}>{t("machines.last_act")}</Table.Th>
          <Table.Th className={styles.number}>{t("machines.cpu")}</Table.Th>
          <Table.Th className={styles.number}>{t("machines.memory")}</Table.Th>
          <Table.Th>
            <VisuallyHidden>{t("machines.actions")}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {fleet.machines.map((machine) => (
          <Table.Tr key={machine.id}>
            <Table.Td>
              <Machine machine={machine} at={fleet.at} />
            </Table.Td>
            <Table.Td>
              <Badge tone={TONES[machine.state]}>{t(`machines.state.${machine.state}`)}</Badge>
              <Since machine={machine} now={fleet.at} />
            </Table.Td>
            <Table.Td>
              <Holder machine={machine} />
            </Table.Td>
            <Costs machine={machine} now={fleet.at} />
            <Table.Td className={styles.actions}>
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
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
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
function Since({ machine, now }: { machine: FleetMachine; now: string }) {
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
  const episode = machine.holder.startsWith("episode:") ? machine.session : null;
  return (
    <>
      <div>{machine.user ?? machine.holder}</div>
      <div className={styles.note}>
        {machine.pool}
        {machine.pool && episode && " · "}
        {episode && <Link to={`/episodes/${episode}`}>{t("machines.episode")}</Link>}
      </div>
    </>
  );
}

function Costs({ machine, now }: { machine: FleetMachine; now: string }) {
  const { relative, percent, bytes, moment } = useI18n();
  const { last_act: acted, cpu_share: cpu, memory_bytes: memory } = machine;
  return (
    <>
      <Table.Td className={styles.number} title={acted === null ? undefined : moment(acted)}>
        {acted === null ? "–" : relative(acted, Date.parse(now))}
      </Table.Td>
      <Table.Td className={styles.number}>{cpu === null ? "–" : percent(cpu)}</Table.Td>
      <Table.Td className={styles.number}>{memory === null ? "–" : bytes(memory)}</Table.Td>
    </>
  );
}
