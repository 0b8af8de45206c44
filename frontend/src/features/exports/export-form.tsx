/** Which trajectories to export. */
import { Button, Checkbox, NumberInput, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { ExportFilters } from "@/generated/api";
import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import { EVERYTHING, formatsQuery, PLAN, poolsQuery, useStartExport } from "./api";
import styles from "./exports.module.css";

const REVIEWS = ["accepted", "pending", "returned"] as const;
const DIALECTS = ["ui_tars_1_5", "ui_tars_1_0", "ui_tars_2", "doubao_1_5_ui_tars", "opencua"] as const;
const OUTCOMES = ["success", "failure", "infeasible"] as const;

export function ExportForm() {
  const { t } = useI18n();
  const [pool, setPool] = useState<string | null>(null);
  const [review, setReview] = useState<ExportFilters["review"]>("accepted");
  const [outcome, setOutcome] = useState<ExportFilters["outcome"]>(null);
  const [undone, setUndone] = useState(false);
  const [format, setFormat] = useState("canonical");
  const [dialect, setDialect] = useState<string>(DIALECTS[0]);
  const [test, setTest] = useState(0);
  const [leaveOut, setLeaveOut] = useState(false);
  const formats = useQuery(formatsQuery).data ?? [];
  const pools = useQuery(poolsQuery).data ?? [];
  const start = useStartExport();

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate({
          pool_id: pool === null ? null : Number(pool),
          filters: { ...EVERYTHING, review, outcome, undone },
          plan: { ...PLAN, format, dialect, leave_out_missing: leaveOut, shares: { ...PLAN.shares, test: test / 100 } },
        });
      }}
    >
      <Select
        label={t("episodes.pool")}
        placeholder={t("episodes.any_pool")}
        clearable
        data={pools.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={pool}
        onChange={setPool}
      />
      <Select
        label={t("episodes.review")}
        placeholder={t("episodes.any_review")}
        clearable
        data={REVIEWS.map((value) => ({ value, label: t(`review.${value}`) }))}
        value={review}
        onChange={setReview}
      />
      <Select
        label={t("episodes.outcome")}
        placeholder={t("exports.any_outcome")}
        clearable
        data={OUTCOMES.map((value) => ({ value, label: t(`outcome.${value}`) }))}
        value={outcome}
        onChange={setOutcome}
      />
      <Select
        label={t("exports.format")}
        allowDeselect={false}
        searchable
        data={formats.map(({ name }) => name)}
        value={format}
        onChange={(value) => setFormat(value ?? "canonical")}
      />
      {formats.some(({ name, dialect: told }) => name === format && told) && (
        <Select
          label={t("exports.dialect")}
          allowDeselect={false}
          data={[...DIALECTS]}
          value={dialect}
          onChange={(value) => setDialect(value ?? DIALECTS[0])}
        />
      )}
      <NumberInput
        label={t("exports.test_share")}
        min={0}
        max={90}
        w={160}
        value={test}
        onChange={(value) => setTest(Number(value) || 0)}
      />
      <Checkbox
        label={t("exports.leave_out_missing")}
        checked={leaveOut}
        onChange={(event) => setLeaveOut(event.currentTarget.checked)}
      />
      <Checkbox label={t("exports.undone")} checked={undone} onChange={(event) => setUndone(event.currentTarget.checked)} />
      <Button type="submit" loading={start.isPending}>
        {t("exports.start")}
      </Button>
      {start.error && (
        <p className={styles.error} role="alert">
          {messageOf(start.error, t).text}
        </p>
      )}
    </form>
  );
}
