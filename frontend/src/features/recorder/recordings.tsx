/** What somebody uploaded from their own computers: where it stands, and the ways to take it back. */
import { Anchor, Checkbox } from "@mantine/core";
import { useState } from "react";
import { Link } from "react-router";

import { BatchButton } from "@/shared/session-batches/batch-button";
import type { RecordedSessionOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, ReviewBadge, type BadgeTone } from "@/shared/ui/badge";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { DataTable, type Column } from "@/shared/ui/tables/data-table";

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
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const user = useUser();
  const mayRefine = hasRole(user, "reviewer") || hasRole(user, "researcher");
  const choice: Column<RecordedSessionOut> = {
    header: t("speech.batch.open"),
    kind: "mark",
    cell: ({ id, steps, instruction, withdrawn_at }) =>
      steps > 0 &&
      withdrawn_at === null && (
        <Checkbox
          aria-label={t("speech.batch.select", { name: instruction || id })}
          checked={chosen.includes(id)}
          onChange={() => setChosen(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id])}
        />
      ),
  };
  return (
    <>
      {mayRefine && rows.some(({ steps }) => steps > 0) && <BatchButton chosen={chosen} />}
      <DataTable
        label={t("recorder.recordings")}
        rows={rows}
        keyOf={(row) => row.id}
        columns={[
          ...(mayRefine ? [choice] : []),
          { header: t("recorder.recording"), kind: "name", cell: (row) => <Recording row={row} /> },
          { header: t("recorder.pool"), cell: (row) => row.pool },
          { header: t("recorder.state"), cell: (row) => <State row={row} /> },
          { header: t("recorder.sent"), cell: (row) => t("recorder.sent.what", { steps: row.steps, size: bytes(row.size) }) },
          { header: t("recorder.when"), cell: (row) => relative(row.created_at) },
          { header: t("people.actions"), kind: "actions", cell: (row) => <Actions row={row} /> },
        ]}
      />
    </>
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
