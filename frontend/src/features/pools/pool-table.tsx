/** Every pool: what waits in it, how it is set, and what can be done with it. */
import { Button, Checkbox } from "@mantine/core";

import type { Board, PoolRow } from "@/generated/api";
import { dollars } from "@/shared/i18n/dollars";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable, type Column } from "@/shared/ui/tables/data-table";

import styles from "./pools.module.css";

export type PoolDialog = "edit" | "tasks" | "refill" | "secrets" | "mcp" | "stop";

type Props = {
  readonly pools: readonly PoolRow[];
  readonly missing: Board["missing_suites"];
  readonly chosen: ReadonlySet<number>;
  readonly onChoose: (pool: PoolRow, on: boolean) => void;
  readonly onOpen: (what: PoolDialog, pool: PoolRow) => void;
  readonly onStart: (pool: PoolRow) => void;
};

const STATES = ["waiting", "claimed", "done", "broken", "withdrawn"] as const;

export function PoolTable({ pools, missing, chosen, onChoose, onOpen, onStart }: Props) {
  const { t } = useI18n();
  return (
    <DataTable
      rows={pools}
      keyOf={(pool) => pool.id}
      columns={[
        {
          header: t("pools.choose"),
          kind: "mark",
          cell: (pool) => (
            <Checkbox
              size="xs"
              aria-label={t("pools.choose_one", { name: pool.settings.name })}
              checked={chosen.has(pool.id)}
              onChange={(event) => onChoose(pool, event.currentTarget.checked)}
            />
          ),
        },
        {
          header: t("pools.pool"),
          kind: "name",
          cell: (pool) => (
            <>
              <div className={styles.badges}>
                <strong>{pool.settings.name}</strong>
                <PoolBadges pool={pool} />
              </div>
              <p className={styles.note}>{pool.stopped_at ? pool.stop_reason : pool.settings.description}</p>
              <MissingTasks missing={missing.filter((each) => each.pool === pool.id)} />
            </>
          ),
        },
        { header: t("pools.priority"), kind: "number", cell: (pool) => pool.settings.priority },
        ...STATES.map((state): Column<PoolRow> => ({
          header: t(`pools.state.${state}`),
          kind: "number",
          cell: (pool) => pool.tasks[state],
        })),
        {
          header: t("pools.actions"),
          kind: "actions",
          cell: (pool) => <Actions pool={pool} onOpen={onOpen} onStart={onStart} />,
        },
      ]}
    />
  );
}

function Actions({ pool, onOpen, onStart }: Pick<Props, "onOpen" | "onStart"> & { readonly pool: PoolRow }) {
  const { t } = useI18n();
  const { name } = pool.settings;
  return (
    <>
      <ActionButton label={t("pools.edit")} named={t("pools.edit_of", { name })} onClick={() => onOpen("edit", pool)} />
      <ActionButton label={t("pools.tasks")} named={t("pools.tasks_in", { name })} onClick={() => onOpen("tasks", pool)} />
      <ActionButton label={t("pools.refill")} named={t("pools.refill_in", { name })} onClick={() => onOpen("refill", pool)} />
      <ActionButton label={t("pools.secrets")} named={t("pools.secrets_in", { name })} onClick={() => onOpen("secrets", pool)} />
      <ActionButton label={t("pools.mcp")} named={t("pools.mcp_in", { name })} onClick={() => onOpen("mcp", pool)} />
      {pool.stopped_at ? (
        <ActionButton label={t("pools.start")} named={t("pools.start_of", { name })} onClick={() => onStart(pool)} />
      ) : (
        <ActionButton label={t("pools.stop")} named={t("pools.stop_of", { name })} onClick={() => onOpen("stop", pool)} />
      )}
    </>
  );
}

function ActionButton({ label, named, onClick }: { readonly label: string; readonly named: string; readonly onClick: () => void }) {
  return (
    <Button variant="default" size="compact-xs" aria-label={named} onClick={onClick}>
      {label}
    </Button>
  );
}

/** Tasks of suites that this version does not have, and what to do with them. */
function MissingTasks({ missing }: Pick<Props, "missing">) {
  const { t, language } = useI18n();
  if (missing.length === 0) return null;
  const names = new Intl.ListFormat(language).format(missing.map(({ name }) => name));
  const count = missing.reduce((sum, { tasks }) => sum + tasks, 0);
  return <p className={styles.missing}>{t("pools.missing", { count, names })}</p>;
}

function PoolBadges({ pool }: { readonly pool: PoolRow }) {
  const { t, relative, language } = useI18n();
  const { platform, practice, paused, overlap, policy_budget: budget } = pool.settings;
  const spent = dollars(pool.policy_spent, language);
  return (
    <>
      <Badge tone="neutral">{t(`platform.${platform}`)}</Badge>
      {practice && <Badge tone="neutral">{t("queue.practice.badge")}</Badge>}
      {overlap > 1 && <Badge tone="neutral">{t("pools.overlap_of", { count: overlap })}</Badge>}
      {budget !== null && <Badge tone="neutral">{t("pools.budget", { spent, budget: dollars(budget, language) })}</Badge>}
      {budget !== null && pool.policy_spent >= budget && <Badge tone="warn">{t("pools.budget_spent")}</Badge>}
      {pool.stopped_at && <Badge tone="warn">{t("pools.stopped")}</Badge>}
      {paused && <Badge tone="warn">{t("pool.paused")}</Badge>}
      {pool.opens_at && <Badge tone="neutral">{t("pools.opens", { when: relative(pool.opens_at) })}</Badge>}
    </>
  );
}
