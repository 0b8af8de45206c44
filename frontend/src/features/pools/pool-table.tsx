/** Every pool: what waits in it, how it is set, and what can be done with it. */
import { Button, Checkbox, Table, VisuallyHidden } from "@mantine/core";

import type { PoolRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import styles from "./pools.module.css";

export type PoolDialog = "edit" | "tasks" | "secrets" | "stop";

type Props = {
  readonly pools: readonly PoolRow[];
  readonly chosen: ReadonlySet<number>;
  readonly onChoose: (pool: PoolRow, on: boolean) => void;
  readonly onOpen: (what: PoolDialog, pool: PoolRow) => void;
  readonly onStart: (pool: PoolRow) => void;
};

export function PoolTable({ pools, chosen, onChoose, onOpen, onStart }: Props) {
  const { t } = useI18n();
  return (
    <Table className={styles.table}>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>
            <VisuallyHidden>{t("pools.choose")}</VisuallyHidden>
          </Table.Th>
          <Table.Th>{t("pools.pool")}</Table.Th>
          <Table.Th className={styles.number}>{t("pools.priority")}</Table.Th>
          <Table.Th className={styles.number}>{t("pools.state.waiting")}</Table.Th>
          <Table.Th className={styles.number}>{t("pools.state.claimed")}</Table.Th>
          <Table.Th className={styles.number}>{t("pools.state.done")}</Table.Th>
          <Table.Th className={styles.number}>{t("pools.state.broken")}</Table.Th>
          <Table.Th>
            <VisuallyHidden>{t("pools.actions")}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {pools.map((pool) => {
          const { name } = pool.settings;
          return (
            <Table.Tr key={pool.id}>
              <Table.Td>
                <Checkbox
                  size="xs"
                  aria-label={t("pools.choose_one", { name })}
                  checked={chosen.has(pool.id)}
                  onChange={(event) => onChoose(pool, event.currentTarget.checked)}
                />
              </Table.Td>
              <Table.Td>
                <div className={styles.badges}>
                  <strong>{name}</strong>
                  <Standing pool={pool} />
                </div>
                <p className={styles.note}>{pool.stopped_at ? pool.stop_reason : pool.settings.description}</p>
              </Table.Td>
              <Table.Td className={styles.number}>{pool.settings.priority}</Table.Td>
              <Table.Td className={styles.number}>{pool.tasks.waiting}</Table.Td>
              <Table.Td className={styles.number}>{pool.tasks.claimed}</Table.Td>
              <Table.Td className={styles.number}>{pool.tasks.done}</Table.Td>
              <Table.Td className={styles.number}>{pool.tasks.broken}</Table.Td>
              <Table.Td className={styles.actions}>
                <Act label={t("pools.edit")} named={t("pools.edit_of", { name })} onClick={() => onOpen("edit", pool)} />
                <Act label={t("pools.tasks")} named={t("pools.tasks_in", { name })} onClick={() => onOpen("tasks", pool)} />
                <Act label={t("pools.secrets")} named={t("pools.secrets_in", { name })} onClick={() => onOpen("secrets", pool)} />
                {pool.stopped_at ? (
                  <Act label={t("pools.start")} named={t("pools.start_of", { name })} onClick={() => onStart(pool)} />
                ) : (
                  <Act label={t("pools.stop")} named={t("pools.stop_of", { name })} onClick={() => onOpen("stop", pool)} />
                )}
              </Table.Td>
            </Table.Tr>
          );
        })}
      </Table.Tbody>
    </Table>
  );
}

function Act({ label, named, onClick }: { readonly label: string; readonly named: string; readonly onClick: () => void }) {
  return (
    <Button variant="default" size="compact-xs" aria-label={named} onClick={onClick}>
      {label}
    </Button>
  );
}

function Standing({ pool }: { readonly pool: PoolRow }) {
  const { t, relative } = useI18n();
  const { platform, practice, paused, overlap } = pool.settings;
  return (
    <>
      <Badge tone="neutral">{t(`platform.${platform}`)}</Badge>
      {practice && <Badge tone="neutral">{t("queue.practice.badge")}</Badge>}
      {overlap > 1 && <Badge tone="neutral">{t("pools.overlap_of", { count: overlap })}</Badge>}
      {pool.stopped_at && <Badge tone="warn">{t("pools.stopped")}</Badge>}
      {paused && <Badge tone="warn">{t("pool.paused")}</Badge>}
      {pool.opens_at && <Badge tone="neutral">{t("pools.opens", { when: relative(pool.opens_at) })}</Badge>}
    </>
  );
}
