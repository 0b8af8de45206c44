/** Exports what a search found: in whose format, and how it is divided. */
import { Button, Checkbox, NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { ExportPlan, Facets } from "@/generated/api";
import { DIALECTS } from "@/shared/dialects";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";
import { VARIANT_KINDS } from "@/shared/variants";

import { formatsQuery, PLAN, useStartExport } from "./api";
import styles from "./exports.module.css";
import { queryOf } from "./search/query";

const MAX_HELD_OUT = 90;

type OutputFormat = Pick<ExportPlan, "format" | "dialect" | "leave_out_missing" | "variants">;
type Split = { validation: number; test: number; salt: string };
type Props = {
  /** The address that holds the query. */
  readonly search: URLSearchParams;
  /** How what it finds divides. */
  readonly found: Facets;
  readonly onDone: () => void;
};

export function ExportForm({ search, found, onDone }: Props) {
  const { t } = useI18n();
  const query = queryOf(search);
  const [accepted, setAccepted] = useState(true);
  const [undone, setUndone] = useState(false);
  const [outputFormat, setOutputFormat] = useState<OutputFormat>({ format: "canonical", dialect: DIALECTS[0], leave_out_missing: false, variants: [] });
  const [splits, setSplits] = useState<Split>({ validation: 0, test: 0, salt: "" });
  const start = useStartExport();
  const review = query.review ?? (accepted ? "accepted" : null);
  const shares = { validation: splits.validation / 100, test: splits.test / 100, salt: splits.salt.trim() };
  return (
    <form
      className={styles.form}
      onSubmit={(event) => {
        event.preventDefault();
        const input = { pool_id: null, filters: { ...query, review, undone }, plan: { ...PLAN, ...outputFormat, shares } };
        start.mutate(input, { onSuccess: onDone });
      }}
    >
      <fieldset>
        <legend>{t("exports.which")}</legend>
        <p className={styles.note} role="status">
          {t("exports.count", { count: review === null ? found.total : countOf(found, review) })}
        </p>
        <div className={styles.checks}>
          {query.review === null && (
            <Checkbox
              label={t("exports.accepted_only", { count: countOf(found, "accepted"), total: found.total })}
              checked={accepted}
              onChange={(event) => setAccepted(event.currentTarget.checked)}
            />
          )}
          <Checkbox label={t("exports.undone")} checked={undone} onChange={(event) => setUndone(event.currentTarget.checked)} />
        </div>
      </fieldset>
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

const countOf = ({ reviews }: Facets, review: string): number => reviews.find(({ value }) => value === review)?.count ?? 0;

type Fields<Value> = { onChange: (changed: Partial<Value>) => void };

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
        {VARIANT_KINDS.map((kind) => (
          <Checkbox
            key={kind}
            label={t(`exports.variants.${kind}`)}
            checked={outputFormat.variants.includes(kind)}
            onChange={(event) =>
              onChange({ variants: VARIANT_KINDS.filter((one) => (one === kind ? event.currentTarget.checked : outputFormat.variants.includes(one))) })
            }
          />
        ))}
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
            suffix="%"
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
