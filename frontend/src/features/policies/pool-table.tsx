/** Who proposes in each pool, what the next one must show, and how tasks are chosen. */
import { Button, NativeSelect } from "@mantine/core";

import type { Gate, PoolPolicies, RevisionSummary } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { PolicyBadge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";

import { useChange, nameOf, revisionOf } from "./api";
import styles from "./policies.module.css";

export type PoolDialog = "change" | "gate" | "states";

type Props = {
  readonly pools: readonly PoolPolicies[];
  readonly revisions: readonly RevisionSummary[];
  /** Who may only read is shown no controls. */
  readonly readOnly: boolean;
  readonly onOpen: (dialog: PoolDialog, pool: PoolPolicies) => void;
};

export function PoolTable({ pools, revisions, readOnly, onOpen }: Props) {
  const { t } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <DataTable
        rows={pools}
        keyOf={(pool) => pool.id}
        columns={[
          { header: t("policies.pool"), kind: "name", cell: (pool) => <strong>{pool.name}</strong> },
          { header: t("policies.active"), cell: (pool) => <ProposingPolicy pool={pool} revisions={revisions} /> },
          { header: t("policies.gate"), cell: (pool) => <GateText gate={pool.gate} /> },
          {
            header: t("policies.next_task"),
            cell: (pool) => (
              <NativeSelect
                aria-label={t("policies.next_task_of", { name: pool.name })}
                title={pool.sampling === "by_need" ? t("policies.by_need.help") : undefined}
                size="xs"
                disabled={readOnly}
                value={pool.sampling}
                onChange={(event) => {
                  const sampling = event.currentTarget.value === "by_need" ? "by_need" : "in_order";
                  change.mutate({ type: "sampling", pool: pool.id, sampling });
                }}
                data={[
                  { value: "in_order", label: t("policies.in_order") },
                  { value: "by_need", label: t("policies.by_need") },
                ]}
              />
            ),
          },
          {
            header: t("policies.change"),
            kind: "actions",
            cell: (pool) => readOnly ? null : (
              <>
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={t("policies.change_of", { name: pool.name })}
                  onClick={() => onOpen("change", pool)}
                >
                  {t("policies.change")}
                </Button>
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={t("policies.set_gate_of", { name: pool.name })}
                  onClick={() => onOpen("gate", pool)}
                >
                  {t("policies.set_gate")}
                </Button>
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={t("policies.states_of", { name: pool.name })}
                  onClick={() => onOpen("states", pool)}
                >
                  {t("policies.states")}
                </Button>
              </>
            ),
          },
        ]}
      />
    </>
  );
}

function ProposingPolicy({ pool, revisions }: { pool: PoolPolicies; revisions: readonly RevisionSummary[] }) {
  const { t, percent } = useI18n();
  const canary = revisionOf(revisions, pool.canary);
  return (
    <>
      <PolicyBadge policy={revisionOf(revisions, pool.active)?.policy ?? null} />
      {canary && (
        <div className={styles.note}>
          {t("policies.canary")}: {t("policies.share", { name: nameOf(canary), percent: percent(pool.canary_share / 100) })}
        </div>
      )}
    </>
  );
}

function GateText({ gate }: { gate: Gate | null }) {
  const { t, percent } = useI18n();
  if (gate === null) return <span className={styles.note}>{t("policies.gate.none")}</span>;
  const parts = [
    t("policies.gate.attempts", { count: gate.attempts ?? 0 }),
    (gate.success ?? 0) > 0 && t("policies.gate.success", { percent: percent(gate.success ?? 0) }),
    gate.no_regression && t("policies.gate.no_regression"),
    gate.improvement && gate.improvement !== "none" && t(`policies.gate.better.${gate.improvement}`),
  ].filter(Boolean);
  return (
    <>
      {t(gate.promote === "automatically" ? "policies.gate.automatically" : "policies.gate.by_hand")}
      <div className={styles.note}>{[...parts, ...(gate.over ?? [])].join(" · ")}</div>
    </>
  );
}
