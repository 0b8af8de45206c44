/** Which trajectories to export. */
import { Button, Checkbox, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { ExportFilters } from "@/generated/api";
import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import { poolsQuery, useStartExport } from "./api";
import styles from "./exports.module.css";

const REVIEWS = ["accepted", "pending", "returned"] as const;
const OUTCOMES = ["success", "failure", "infeasible"] as const;

export function ExportForm() {
  const { t } = useI18n();
  const [pool, setPool] = useState<string | null>(null);
  const [review, setReview] = useState<ExportFilters["review"]>("accepted");
  const [outcome, setOutcome] = useState<ExportFilters["outcome"]>(null);
  const [undone, setUndone] = useState(false);
  const pools = useQuery(poolsQuery).data ?? [];
  const start = useStartExport();

  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate({ pool_id: pool === null ? null : Number(pool), filters: { review, outcome, annotator: null, undone } });
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
