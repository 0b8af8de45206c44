/** The rules there are. */
import { Button } from "@mantine/core";

import type { RuleOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";
import { useUndoable } from "@/shared/ui/undo";

import { useChange } from "./api";
import styles from "./retention.module.css";
import { DeletionPreview } from "./deletion-preview";

type Props = { readonly rules: readonly RuleOut[]; readonly onSwitchOn: (rule: RuleOut) => void };

export function RuleTable({ rules, onSwitchOn }: Props) {
  const { t } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <DataTable
        rows={rules}
        keyOf={(rule) => rule.id}
        columns={[
          {
            header: t("retention.what"),
            kind: "name",
            cell: (rule) => (
              <>
                <strong>{t(`retention.what.${rule.what}`)}</strong>
                <div className={styles.note}>
                  {rule.pool ?? t("retention.every_pool")} · {t("retention.after", { count: rule.days })}
                </div>
              </>
            ),
          },
          {
            header: t("retention.state"),
            cell: (rule) => <Badge tone={rule.active ? "ok" : "neutral"}>{t(rule.active ? "retention.on" : "retention.off")}</Badge>,
          },
          { header: t("retention.would"), cell: (rule) => <DeletionPreview rule={rule} /> },
          { header: t("retention.did"), cell: (rule) => <LastRun rule={rule} /> },
          {
            header: t("retention.actions"),
            kind: "actions",
            cell: (rule) => <Actions rule={rule} change={change} onSwitchOn={onSwitchOn} />,
          },
        ]}
      />
    </>
  );
}

function LastRun({ rule: { ran_at, removed, freed, error } }: { rule: RuleOut }) {
  const { t, bytes, relative } = useI18n();
  if (ran_at === null) return <span className={styles.note}>{t("retention.never")}</span>;
  return (
    <>
      {t("retention.removed", { count: removed, bytes: bytes(freed) })}
      <div className={styles.note}>{t("retention.ran", { ago: relative(ran_at) })}</div>
      {error && <div className={styles.failed}>{t("retention.failed", { why: error })}</div>}
    </>
  );
}

type ActionsProps = { rule: RuleOut; change: ReturnType<typeof useChange>; onSwitchOn: (rule: RuleOut) => void };

function Actions({ rule, change, onSwitchOn }: ActionsProps) {
  const { t } = useI18n();
  const named = { what: t(`retention.what.${rule.what}`), pool: rule.pool ?? t("retention.every_pool") };
  const { id, what, pool_id: pool, days } = rule;
  const undoable = useUndoable();
  const forget = () =>
    undoable({
      act: () => change.mutateAsync({ type: "delete", id }),
      done: t("retention.deleted", named),
      undo: () => change.mutateAsync({ type: "make", rule: { what, pool, days } }),
    });
  return (
    <>
      <Button
        variant="default"
        size="compact-xs"
        aria-label={t("retention.preview_one", named)}
        loading={change.isPending && change.variables.type === "preview" && change.variables.id === id}
        onClick={() => change.mutate({ type: "preview", id })}
      >
        {t("retention.preview")}
      </Button>
      {rule.active ? (
        <Button
          variant="default"
          size="compact-xs"
          aria-label={t("retention.switch_off_one", named)}
          onClick={() => change.mutate({ type: "off", id })}
        >
          {t("retention.switch_off")}
        </Button>
      ) : (
        <>
          <Button
            variant="default"
            size="compact-xs"
            aria-label={t("retention.switch_on_one", named)}
            onClick={() => onSwitchOn(rule)}
          >
            {t("retention.switch_on")}
          </Button>
          <Button
            variant="default"
            size="compact-xs"
            aria-label={t("retention.delete_one", named)}
            onClick={forget}
          >
            {t("retention.delete")}
          </Button>
        </>
      )}
    </>
  );
}
