/** Steps a day by who decided, and the override rate over them; the table by days holds the same figures. */
import { CompositeChart } from "@mantine/charts";
import "@mantine/charts/styles.css";

import type { ReportRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ratePercent } from "@/shared/ui/tables/rate";

import { everyDay } from "./filters";
import { DECISIONS } from "./report-table";
import styles from "./reports.module.css";

const COLOURS = {
  accepted: "var(--ph-accept)",
  edited: "var(--ph-edit)",
  overridden: "var(--ph-override)",
  taken_over: "var(--ph-takeover)",
  alone: "var(--ph-auto)",
} as const;

export function DayChart({ days }: { days: readonly ReportRow[] }) {
  const { t, percent } = useI18n();
  const rate = t("reports.override_percent");
  const figuresByDay = new Map(days.map(({ key, figures }) => [key, figures]));
  const data = everyDay([...figuresByDay.keys()]).map((day) => {
    const figures = figuresByDay.get(day);
    return {
      day,
      ...Object.fromEntries(DECISIONS.map((name) => [t(`reports.${name}`), figures?.[name] ?? 0])),
      [rate]: ratePercent(figures?.override),
    };
  });
  return (
    <figure className={styles.chart} aria-label={t("reports.chart", { days: days.length })}>
      <CompositeChart
        h={220}
        data={data}
        dataKey="day"
        withLegend
        withRightYAxis
        composedChartProps={{ accessibilityLayer: false }}
        yAxisProps={{ allowDecimals: false }}
        rightYAxisProps={{ domain: [0, 100], tickFormatter: (value: number) => percent(value / 100) }}
        series={[
          ...DECISIONS.map((name) => ({
            name: t(`reports.${name}`),
            color: COLOURS[name],
            type: "bar" as const,
          })),
          { name: rate, color: "var(--ph-text)", type: "line" as const, yAxisId: "right" },
        ]}
        maxBarWidth={28}
        barProps={{ stackId: "steps" }}
        lineProps={{ connectNulls: false }}
        curveType="linear"
        legendProps={{ itemSorter: null }}
      />
    </figure>
  );
}
