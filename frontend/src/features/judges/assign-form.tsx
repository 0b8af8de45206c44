/** Lets a judge judge in a pool. */
import { Button, Select } from "@mantine/core";
import { useState } from "react";

import type { JudgesPage } from "@/generated/api";
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
    </form>
  );
}
