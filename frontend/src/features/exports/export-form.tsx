/** Which trajectories to export, in whose format, and how they are divided. */
import { Button, Checkbox, NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { ExportFilters, ExportPlan } from "@/generated/api";
import { DIALECTS } from "@/shared/dialects";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { EVERYTHING, formatsQuery, PLAN, poolsQuery, useStartExport } from "./api";
import styles from "./exports.module.css";

const REVIEWS = ["accepted", "pending", "returned"] as const;
const OUTCOMES = ["success", "failure", "infeasible"] as const;
const MAX_HELD_OUT = 90;

type Selection = { pool: string | null } & Pick<ExportFilters, "review" | "outcome" | "undone">;
type OutputFormat = Pick<ExportPlan, "format" | "dialect" | "leave_out_missing">;
type Split = { validation: number; test: number; salt: string };

export function ExportForm() {
  const { t } = useI18n();
  const [selection, setSelection] = useState<Selection>({ pool: null, review: "accepted", outcome: null, undone: false });
  const [outputFormat, setOutputFormat] = useState<OutputFormat>({ format: "canonical", dialect: DIALECTS[0], leave_out_missing: false });
  const [splits, setSplits] = useState<Split>({ validation: 0, test: 0, salt: "" });
  const start = useStartExport();
  const { pool, ...filters } = selection;
  const shares = { validation: splits.validation / 100, test: splits.test / 100, salt: splits.salt.trim() };
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        start.mutate({
          pool_id: pool === null ? null : Number(pool),
          filters: { ...EVERYTHING, ...filters },
          plan: { ...PLAN, ...outputFormat, shares },
        });
      }}
    >
      <SelectionFields selection={selection} onChange={(changed) => setSelection({ ...selection, ...changed })} />
      <OutputFormatFields outputFormat={outputFormat} onChange={(changed) => setOutputFormat({ ...outputFormat, ...changed })} />
      <SplitFields splits={splits} onChange={(changed) => setSplits({ ...splits, ...changed })} />
      <div className={styles.submit}>
        <Button type="submit" loading={start.isPending}>
          {t("exports.start")}
        </Button>
        <Problem error={start.error} />
      </div>
    </form>
  );
}

type Fields<Value> = { onChange: (changed: Partial<Value>) => void };

function SelectionFields({ selection, onChange }: { selection: Selection } & Fields<Selection>) {
  const { t } = useI18n();
  const pools = useQuery(poolsQuery).data ?? [];
  return (
    <fieldset>
      <legend>{t("exports.which")}</legend>
      <div className={styles.fields}>
        <Select
          label={t("episodes.pool")}
          placeholder={t("episodes.any_pool")}
          clearable
          data={pools.map(({ id, name }) => ({ value: String(id), label: name }))}
          value={selection.pool}
          onChange={(pool) => onChange({ pool })}
        />
        <Select
          label={t("episodes.review")}
          placeholder={t("episodes.any_review")}
          clearable
          data={REVIEWS.map((value) => ({ value, label: t(`review.${value}`) }))}
          value={selection.review}
          onChange={(review) => onChange({ review })}
        />
        <Select
          label={t("episodes.outcome")}
          placeholder={t("exports.any_outcome")}
          clearable
          data={OUTCOMES.map((value) => ({ value, label: t(`outcome.${value}`) }))}
          value={selection.outcome}
          onChange={(outcome) => onChange({ outcome })}
        />
      </div>
      <div className={styles.checks}>
        <Checkbox label={t("exports.undone")} checked={selection.undone} onChange={(event) => onChange({ undone: event.currentTarget.checked })} />
      </div>
    </fieldset>
  );
}

function OutputFormatFields({ outputFormat, onChange }: { outputFormat: OutputFormat } & Fields<OutputFormat>) {
  const { t } = useI18n();
  const formats = useQuery(formatsQuery).data ?? [];
  return (
    <fieldset>
      <legend>{t("exports.shape")}</legend>
      <div className={styles.fields}>
        <Select
          label={t("exports.format")}
          allowDeselect={false}
          searchable
          data={formats.map(({ name }) => name)}
          value={outputFormat.format}
          onChange={(format) => format && onChange({ format })}
        />
        {formats.some(({ name, dialect }) => name === outputFormat.format && dialect) && (
          <Select
            label={t("exports.dialect")}
            allowDeselect={false}
            data={[...DIALECTS]}
            value={outputFormat.dialect}
            onChange={(dialect) => dialect && onChange({ dialect })}
          />
        )}
      </div>
      <div className={styles.checks}>
        <Checkbox
          label={t("exports.leave_out_missing")}
          checked={outputFormat.leave_out_missing}
          onChange={(event) => onChange({ leave_out_missing: event.currentTarget.checked })}
        />
      </div>
    </fieldset>
  );
}

/** What is held back, and what that means, in a sentence. */
function SplitFields({ splits, onChange }: { splits: Split } & Fields<Split>) {
  const { t } = useI18n();
  const { validation, test, salt } = splits;
  const divided = validation + test > 0;
  return (
    <fieldset>
      <legend>{t("exports.division")}</legend>
      <div className={styles.fields}>
        {(["validation", "test"] as const).map((split) => (
          <NumberInput
            key={split}
            label={t(`exports.share.${split}`)}
            suffix=" %"
            min={0}
            max={MAX_HELD_OUT - (split === "test" ? validation : test)}
            clampBehavior="strict"
            allowDecimal={false}
            value={splits[split]}
            onChange={(value) => onChange({ [split]: Number(value) || 0 })}
          />
        ))}
        {divided && (
          <TextInput
            label={t("exports.salt")}
            placeholder={t("exports.salt.usual")}
            maxLength={64}
            value={salt}
            onChange={(event) => onChange({ salt: event.currentTarget.value })}
          />
        )}
      </div>
      <p className={styles.note}>
        {divided ? t("exports.divided", { train: 100 - validation - test, validation, test }) : t("exports.undivided")} {t("exports.evaluated")}
      </p>
    </fieldset>
  );
}
