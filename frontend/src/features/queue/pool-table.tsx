/** The pools one works in: what waits, what one did, which policy proposes. */
import { Button } from "@mantine/core";

import type { PoolSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, PolicyBadge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./queue.module.css";

/** So many waiting tasks are counted, at most. */
const MAX_COUNT = 1_000;

type Props = { pools: readonly PoolSummary[]; busy: boolean; onTake: (pool: PoolSummary) => void };

export function PoolTable({ pools, busy, onTake }: Props) {
  const { t, relative } = useI18n();
  return (
    <DataTable
      rows={pools}
      keyOf={(pool) => pool.id}
      columns={[
        {
          header: t("pool.name"),
          kind: "name",
          className: styles.wide,
          cell: (pool) => (
            <>
              <div className={styles.pool}>
                <strong>{pool.name}</strong>
                <Badge tone="neutral">{t(`platform.${pool.platform}`)}</Badge>
                {pool.practice && <Badge tone="neutral">{t("queue.practice.badge")}</Badge>}
                {pool.paused && <Badge tone="warn">{t("pool.paused")}</Badge>}
                {pool.stopped && <Badge tone="warn">{t("pools.stopped")}</Badge>}
                {pool.opens_at && <Badge tone="neutral">{t("pools.opens", { when: relative(pool.opens_at) })}</Badge>}
              </div>
              <div className={styles.description}>{pool.stopped ? pool.stop_reason : pool.description}</div>
            </>
          ),
        },
        { header: t("pool.policy"), cell: (pool) => <PolicyBadge policy={pool.policy} /> },
        {
          header: t("pool.waiting"),
          kind: "number",
          cell: (pool) => pool.waiting < MAX_COUNT ? pool.waiting : t("pool.many", { count: MAX_COUNT }),
        },
        { header: t("pool.mine_done"), kind: "number", cell: (pool) => pool.mine_done },
        {
          header: t("pool.take"),
          kind: "actions",
          cell: (pool) => (
            <Button
              variant="default"
              size="compact-xs"
              disabled={busy || pool.paused || pool.stopped || pool.opens_at !== null || pool.waiting === 0}
              aria-label={t("pool.take_from", { name: pool.name })}
              onClick={() => onTake(pool)}
            >
              {t("pool.take")}
            </Button>
          ),
        },
      ]}
    />
  );
}
