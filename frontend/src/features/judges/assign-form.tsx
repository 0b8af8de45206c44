/** Lets a judge judge in a pool. */
import { Button, Select } from "@mantine/core";
import { useState } from "react";

import type { JudgeOut, JudgesPage } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./judges.module.css";

const DEFAULT_THRESHOLD = 0.5;

export function AssignForm({ page: { judges, pools, rows } }: { page: JudgesPage }) {
  const { t } = useI18n();
  const change = useChange();
  const [pool, setPool] = useState<string | null>(null);
  const [judge, setJudge] = useState<string | null>(null);
  const exists = rows.some((row) => String(row.pool.id) === pool && String(row.judge.id) === judge);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "set", assignment: { pool: Number(pool), judge: Number(judge) }, threshold: DEFAULT_THRESHOLD });
      }}
    >
      <Select
        label={t("judges.judge")}
        data={judges.map(({ id, ref }) => ({ value: String(id), label: `${ref.name} ${ref.revision}` }))}
        value={judge}
        onChange={setJudge}
      />
      <Select
        label={t("judges.pool")}
        data={pools.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={pool}
        onChange={setPool}
      />
      <Button type="submit" disabled={pool === null || judge === null || exists} loading={change.isPending}>
        {t("judges.assign")}
      </Button>
      <p className={styles.note}>{t("judges.assign.help")}</p>
      <Problem error={change.error} />
      <Unused judges={judges} change={change} />
    </form>
  );
}

/** Judges that judge nowhere and have judged nothing: they can still be deleted. */
function Unused({ judges, change }: { judges: readonly JudgeOut[]; change: ReturnType<typeof useChange> }) {
  const { t } = useI18n();
  const unused = judges.filter((judge) => !judge.used);
  if (unused.length === 0) return null;
  return (
    <ul className={styles.unused} aria-label={t("judges.unused")}>
      {unused.map(({ id, ref, model }) => (
        <li key={id}>
          <strong>
            {ref.name} {ref.revision}
          </strong>{" "}
          <span className={styles.note}>
            {t(`judges.kind.${ref.kind}`)} · {model}
          </span>
          <Button
            variant="default"
            size="compact-xs"
            aria-label={t("judges.delete_one", { judge: `${ref.name} ${ref.revision}` })}
            onClick={() => change.mutate({ type: "delete", judge: id })}
          >
            {t("judges.delete")}
          </Button>
        </li>
      ))}
    </ul>
  );
}
