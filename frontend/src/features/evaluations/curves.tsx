/** How success grows with attempts at a task (pass@k) and with allowed steps; each curve's figures are in a table below it. */
import { LineChart } from "@mantine/charts";
import "@mantine/charts/styles.css";
import { useId } from "react";

import type { SuiteResult } from "@/generated/api";
import { useI18n, type PlainKey } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./evaluations.module.css";

type Curves = Pick<SuiteResult, "pass_at" | "scaling">;

/** The name of a policy, and its result. */
export type Named = { readonly name: string; readonly result: Curves };

type Line = { readonly name: string; readonly color: string; readonly dashed: boolean; readonly at: ReadonlyMap<number, number | null> };

const COLORS = { after: "var(--ph-auto)", before: "var(--ph-override)", score: "var(--ph-accept)" } as const;
const percentOf = (share: number | null | undefined): number | null => (share == null ? null : Math.round(share * 1_000) / 10);

/** Both curves of a result; those of an earlier result are dashed. */
export function ResultCurves({ after, before }: { after: Named; before?: Named | undefined }) {
  const { t } = useI18n();
  const both = [
    { ...after, color: COLORS.after, dashed: false },
    ...(before ? [{ ...before, color: COLORS.before, dashed: true }] : []),
  ];
  const samples = both.map(({ result, ...line }) => ({ ...line, at: new Map(result.pass_at.map(({ k, rate }) => [k, percentOf(rate)])) }));
  const steps = both.map(({ result, ...line }) => ({
    ...line,
    at: new Map(result.scaling.map((point) => [point.steps, percentOf(point.successes.rate)])),
  }));
  const scores = after.result.scaling.some(({ score }) => score !== null)
    ? [{ name: t("evaluations.score_of", { name: after.name }), color: COLORS.score, dashed: true, at: new Map(after.result.scaling.map((point) => [point.steps, percentOf(point.score)])) }]
    : [];
  const cutOff = Math.max(0, ...both.flatMap(({ result }) => result.scaling.map(({ cut_off }) => cut_off)));
  return (
    <div className={styles.curves}>
      <Curve title="evaluations.by_samples" axis="evaluations.k" lines={samples} />
      <Curve
        title="evaluations.by_steps"
        axis="evaluations.allowed_steps"
        lines={before ? steps : [...steps, ...scores]}
        note={cutOff > 0 ? t("evaluations.cut_off", { count: cutOff }) : undefined}
      />
    </div>
  );
}

type CurveProps = { readonly title: PlainKey; readonly axis: PlainKey; readonly lines: readonly Line[]; readonly note?: string | undefined };

function Curve({ title, axis, lines, note }: CurveProps) {
  const { t, percent } = useI18n();
  const id = useId();
  const places = [...new Set(lines.flatMap(({ at }) => [...at.keys()]))].sort((one, other) => one - other);
  if (places.length === 0) return null;
  return (
    <figure className={styles.chart} aria-labelledby={id}>
      <figcaption id={id} className={styles.caption}>
        {t(title)}
      </figcaption>
      {places.length > 1 && (
        <LineChart
          h={180}
          dataKey="at"
          data={places.map((place) => ({ at: String(place), ...Object.fromEntries(lines.map(({ name, at }) => [name, at.get(place) ?? null])) }))}
          withLegend={lines.length > 1}
          lineChartProps={{ accessibilityLayer: false }}
          xAxisLabel={t(axis)}
          yAxisProps={{ domain: [0, 100], ticks: [0, 25, 50, 75, 100], interval: 0, tickFormatter: (value: number) => percent(value / 100) }}
          series={lines.map(({ name, color, dashed }) => ({ name, color, ...(dashed ? { strokeDasharray: "5 5" } : {}) }))}
          connectNulls
          curveType="linear"
        />
      )}
      <details className={styles.figures} open={places.length === 1}>
        <summary>{t("evaluations.figures")}</summary>
        <DataTable
          rows={places}
          keyOf={(place) => place}
          label={t(title)}
          columns={[
            { header: t(axis), kind: "name", cell: (place) => place },
            ...lines.map(({ name, at }) => ({
              header: name,
              kind: "number" as const,
              cell: (place: number) => {
                const value = at.get(place);
                return value == null ? "–" : percent(value / 100, 1);
              },
            })),
          ]}
        />
      </details>
      {note !== undefined && <p className={styles.note}>{note}</p>}
    </figure>
  );
}
