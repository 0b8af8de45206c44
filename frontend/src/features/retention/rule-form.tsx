/** Makes a rule; it is off until somebody has seen what it would delete. */
import { Button, NumberInput, Select } from "@mantine/core";
import { useState } from "react";

import type { RetentionPage } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { useChange, TARGETS } from "./api";
import styles from "./retention.module.css";

const MIN_DAYS = { audit: 365, other: 1 } as const;
const DEFAULT_DAYS = { audit: 730, other: 90 } as const;
type Target = (typeof TARGETS)[number];

const keyOf = (what: Target) => (what === "audit" ? "audit" : "other");

export function RuleForm({ page: { pools } }: { page: RetentionPage }) {
  const { t } = useI18n();
  const change = useChange();
  const [what, setWhat] = useState<Target>("practice");
  const [pool, setPool] = useState<string | null>(null);
  const [days, setDays] = useState<number>(DEFAULT_DAYS.other);
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        change.mutate({ type: "make", rule: { what, pool: what === "audit" || pool === null ? null : Number(pool), days } });
      }}
    >
      <Select
        label={t("retention.what")}
        allowDeselect={false}
        w={300}
        data={TARGETS.map((value) => ({ value, label: t(`retention.what.${value}`) }))}
        value={what}
        onChange={(value) => {
          const chosen = TARGETS.find((one) => one === value) ?? "practice";
          setWhat(chosen);
          if (keyOf(chosen) !== keyOf(what)) setDays(DEFAULT_DAYS[keyOf(chosen)]);
        }}
      />
      <Select
        label={t("retention.pool")}
        clearable
        disabled={what === "audit"}
        placeholder={t("retention.every_pool")}
        data={pools.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={what === "audit" ? null : pool}
        onChange={setPool}
      />
      <NumberInput
        label={t("retention.days")}
        w={130}
        min={MIN_DAYS[keyOf(what)]}
        max={36_500}
        allowDecimal={false}
        value={days}
        onChange={(value) => setDays(Number(value))}
      />
      <Button type="submit" loading={change.isPending} disabled={days < MIN_DAYS[keyOf(what)]}>
        {t("retention.make")}
      </Button>
      <p className={styles.note}>{t(`retention.help.${what}`)}</p>
      <Problem error={change.error} />
    </form>
  );
}
