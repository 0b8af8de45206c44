/** What somebody uploaded from their own computers: where it stands, and the ways to take it back. */
import { Anchor } from "@mantine/core";
import { Link } from "react-router";

import type { RecordedSessionOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, ReviewBadge, type BadgeTone } from "@/shared/ui/badge";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { DataTable } from "@/shared/ui/tables/data-table";

import { useDeleteRecording, useWithdraw } from "./api";
import styles from "./recorder.module.css";

const TONES = {
  uploading: "policy",
  stopped: "warn",
  importing: "policy",
  failed: "danger",
  waiting: "neutral",
  reviewed: "ok",
  withdrawn: "neutral",
  deleted: "neutral",
} as const satisfies Record<RecordedSessionOut["state"], BadgeTone>;

export function Recordings({ rows }: { rows: readonly RecordedSessionOut[] }) {
  const { t, bytes, relative } = useI18n();
  return (
    <DataTable
      label={t("recorder.recordings")}
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        { header: t("recorder.recording"), kind: "name", cell: (row) => <Recording row={row} /> },
        { header: t("recorder.pool"), cell: (row) => row.pool },
        { header: t("recorder.state"), cell: (row) => <State row={row} /> },
        { header: t("recorder.sent"), cell: (row) => t("recorder.sent.what", { steps: row.steps, size: bytes(row.size) }) },
        { header: t("recorder.when"), cell: (row) => relative(row.created_at) },
        { header: t("people.actions"), kind: "actions", cell: (row) => <Actions row={row} /> },
      ]}
    />
  );
}

function Recording({ row }: { row: RecordedSessionOut }) {
  const { t } = useI18n();
  const name = row.instruction || row.task_key || row.id.slice(0, 8);
  const learned = row.learned.map((one) => one.revision || t("recorder.learned.one", { flywheel: one.flywheel, cycle: one.cycle, phase: one.phase }));
  const used = [...learned, ...row.in_versions];
  return (
    <>
      {row.steps > 0 ? (
        <Anchor component={Link} to={`/episodes/${row.id}`}>
          {name}
        </Anchor>
      ) : (
        name
      )}
      {used.length > 0 && <p className={styles.learned}>{t("recorder.learned", { names: used.join(", ") })}</p>}
    </>
  );
}

function State({ row }: { row: RecordedSessionOut }) {
  const { t } = useI18n();
  return row.state === "reviewed" && row.review ? (
    <ReviewBadge review={row.review} />
  ) : (
    <Badge tone={TONES[row.state]} title={row.error || undefined}>
      {t(`recorder.state.${row.state}`)}
    </Badge>
  );
}

function Actions({ row }: { row: RecordedSessionOut }) {
  const { t } = useI18n();
  const [remove, withdraw] = [useDeleteRecording(), useWithdraw()];
  const name = row.instruction || row.id;
  return (
    <div className={styles.actions}>
      {row.can_withdraw && (
        <ConfirmButton
          label={t("recorder.withdraw")}
          ariaLabel={t("recorder.withdraw.one", { name })}
          confirmation={t("recorder.withdraw.ask")}
          onConfirm={() => withdraw.mutateAsync(row.id)}
        />
      )}
      {row.can_delete && (
        <ConfirmButton
          label={t("recorder.delete")}
          ariaLabel={t("recorder.delete.one", { name })}
          confirmation={t("recorder.delete.ask")}
          onConfirm={() => remove.mutateAsync(row.id)}
        />
      )}
    </div>
  );
}
