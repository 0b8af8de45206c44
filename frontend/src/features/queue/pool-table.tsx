/** The pools one works in: what waits, what one did, which policy proposes. */
import { Button, Table, VisuallyHidden } from "@mantine/core";

import type { PoolSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, PolicyBadge } from "@/shared/ui/badge";

import styles from "./queue.module.css";

/** So many waiting tasks are counted, at most. */
const COUNTED = 1_000;

type Props = { pools: readonly PoolSummary[]; busy: boolean; onTake: (pool: PoolSummary) => void };

export function PoolTable({ pools, busy, onTake }: Props) {
  const { t, relative } = useI18n();
  return (
    <Table className={styles.table} highlightOnHover>
      <Table.Thead>
        <Table.Tr>
          <Table.Th>{t("pool.name")}</Table.Th>
          <Table.Th>{t("pool.policy")}</Table.Th>
          <Table.Th className={styles.number}>{t("pool.waiting")}</Table.Th>
          <Table.Th className={styles.number}>{t("pool.mine_done")}</Table.Th>
          <Table.Th>
            <VisuallyHidden>{t("pool.take")}</VisuallyHidden>
          </Table.Th>
        </Table.Tr>
      </Table.Thead>
      <Table.Tbody>
        {pools.map((pool) => (
          <Table.Tr key={pool.id}>
            <Table.Td className={styles.wide}>
              <div className={styles.pool}>
                <strong>{pool.name}</strong>
                <Badge tone="neutral">{t(`platform.${pool.platform}`)}</Badge>
                {pool.practice && <Badge tone="neutral">{t("queue.practice.badge")}</Badge>}
                {pool.paused && <Badge tone="warn">{t("pool.paused")}</Badge>}
                {pool.stopped && <Badge tone="warn">{t("pools.stopped")}</Badge>}
                {pool.opens_at && <Badge tone="neutral">{t("pools.opens", { when: relative(pool.opens_at) })}</Badge>}
              </div>
              <div className={styles.description}>{pool.stopped ? pool.stop_reason : pool.description}</div>
            </Table.Td>
            <Table.Td>
              <PolicyBadge policy={pool.policy} />
            </Table.Td>
            <Table.Td className={styles.number}>{pool.waiting < COUNTED ? pool.waiting : t("pool.many", { count: COUNTED })}</Table.Td>
            <Table.Td className={styles.number}>{pool.mine_done}</Table.Td>
            <Table.Td className={styles.number}>
              <Button
                variant="default"
                size="compact-xs"
                disabled={busy || pool.paused || pool.stopped || pool.opens_at !== null || pool.waiting === 0}
                aria-label={t("pool.take_from", { name: pool.name })}
                onClick={() => onTake(pool)}
              >
                {t("pool.take")}
              </Button>
            </Table.Td>
          </Table.Tr>
        ))}
      </Table.Tbody>
    </Table>
  );
}
