/** The exports there are, the newest first. */
import { Button, Progress } from "@mantine/core";

import type { ExportOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { DownloadButton } from "@/shared/ui/download-button";
import { VARIANT_KINDS } from "@/shared/variants";

import { useChangeExport } from "./api";
import styles from "./exports.module.css";
import { describeReason, describeExport } from "./descriptions";

type Props = {
  readonly exports: readonly ExportOut[];
  /** Exports that are dataset versions already. */
  readonly frozen: ReadonlySet<string>;
  readonly onFreeze: (item: ExportOut) => void;
};

export function ExportTable({ exports, frozen, onFreeze }: Props) {
  const i18n = useI18n();
  const { t, bytes, moment } = i18n;
  return (
    <DataTable
      rows={exports}
      keyOf={(item) => item.id}
      columns={[
        { header: t("exports.when"), kind: "name", cell: (item) => moment(item.created_at) },
        {
          header: t("exports.what"),
          cell: (item) => (
            <>
              {describeExport(i18n, item)}
              <div className={styles.note}>{item.requested_by}</div>
            </>
          ),
        },
        { header: t("episodes.status"), className: styles.status, cell: (item) => <ExportStatus item={item} /> },
        { header: t("exports.trajectories"), kind: "number", cell: (item) => item.trajectories },
        { header: t("exports.size"), kind: "number", cell: (item) => bytes(item.bytes) },
        {
          header: t("exports.actions"),
          kind: "actions",
          cell: (item) => (
            <>
              <Change item={item} />
              {item.status === "done" && item.trajectories > 0 && !frozen.has(item.id) && (
                <Button variant="default" size="compact-xs" onClick={() => onFreeze(item)}>
                  {t("versions.freeze")}
                </Button>
              )}
              {item.status === "done" && <DownloadButton href={`/api/exports/${item.id}/download`} label={t("exports.download")} size="compact-xs" />}
            </>
          ),
        },
      ]}
    />
  );
}

function Change({ item }: { item: ExportOut }) {
  const { t } = useI18n();
  const change = useChangeExport();
  if (item.status === "done") return null;
  const ended = item.status === "failed" || item.status === "cancelled";
  return (
    <Button
      variant="default"
      size="compact-xs"
      loading={change.isPending}
      onClick={() => change.mutate({ id: item.id, change: ended ? "retry" : "cancel" })}
    >
      {t(ended ? "exports.retry" : "exports.cancel")}
    </Button>
  );
}


function ExportStatus({ item }: { item: ExportOut }) {
  const { t, percent } = useI18n();
  if (item.status === "failed") {
    return (
      <>
        <Badge tone="danger">{t("exports.failed")}</Badge> <span className={styles.error}>{item.error}</span>
      </>
    );
  }
  if (item.status === "cancelled") return <Badge tone="neutral">{t("exports.cancelled")}</Badge>;
  if (item.status === "done") {
    return (
      <>
        {item.trajectories > 0 ? <Badge tone="ok">{t("exports.done")}</Badge> : <Badge tone="warn">{t("exports.empty")}</Badge>}{" "}
        {item.trajectories === 0 && <div className={styles.note}>{t("exports.empty.help")}</div>}
        {VARIANT_KINDS.map((kind) => {
          const count = item.variants[kind] ?? 0;
          return count > 0 && (
            <div key={kind} className={styles.note}>
              {t(`exports.variants.${kind}.count`, { count })}
            </div>
          );
        })}
        {item.refused > 0 && (
          <div className={styles.note}>
            {t("exports.refused", { count: item.refused })}
            <ul className={styles.reasons}>
              {Object.entries(item.refused_codes).map(([code, count]) => (
                <li key={code}>
                  {count} · {describeReason(t, code)}
                </li>
              ))}
            </ul>
          </div>
        )}
      </>
    );
  }
  return (
    <div className={styles.progress}>
      <Progress value={item.progress * 100} aria-label={t("exports.progress")} />
      <span>{item.status === "queued" ? t("exports.queued") : percent(item.progress)}</span>
    </div>
  );
}
