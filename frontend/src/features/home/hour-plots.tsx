/** Acts an hour and the override rate over the last day, as two small plots; Reports has the figures as tables. */
import { BarChart, LineChart } from "@mantine/charts";
import "@mantine/charts/styles.css";
import type { ReactNode } from "react";

import type { Home } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ratePercent } from "@/shared/ui/tables/rate";

import styles from "./home.module.css";

const HEIGHT = 130;

export default function HourPlots({ hours }: { hours: Home["hours"] }) {
  const { t, percent, language } = useI18n();
  const [acts, rate] = [t("home.acts"), t("reports.override_percent")];
  const clock = new Intl.DateTimeFormat(language, { hour: "2-digit", minute: "2-digit", hour12: false });
  const data = hours.map(({ at, acts: count, override }) => ({
    hour: clock.format(new Date(at)),
    [acts]: count,
    [rate]: ratePercent(override),
  }));
  const total = hours.reduce((sum, hour) => sum + hour.acts, 0);
  const decisions = hours.reduce((sum, { override }) => sum + (override?.attempts ?? 0), 0);
  const overrides = hours.reduce((sum, { override }) => sum + (override?.successes ?? 0), 0);
  if (total === 0) return <p className={styles.none}>{t("home.no_acts")}</p>;
  const shared = { h: HEIGHT, data, dataKey: "hour", xAxisProps: { minTickGap: 24 }, gridAxis: "none" } as const;
  return (
    <div className={styles.plots}>
      <Plot title={t("home.acts_per_hour")} figure={t("home.acts_total", { count: total })}>
        <BarChart
          {...shared}
          series={[{ name: acts, color: "var(--ph-accent)" }]}
          yAxisProps={{ allowDecimals: false, width: 40, tickCount: 3 }}
          barChartProps={{ accessibilityLayer: false }}
          maxBarWidth={16}
        />
      </Plot>
      <Plot title={t("reports.override")} figure={decisions === 0 ? "–" : t("home.override_total", { percent: percent(overrides / decisions), count: decisions })}>
        <LineChart
          {...shared}
          series={[{ name: rate, color: "var(--ph-override)" }]}
          yAxisProps={{ domain: [0, 100], ticks: [0, 50, 100], tickFormatter: (value: number) => percent(value / 100), width: 52 }}
          lineChartProps={{ accessibilityLayer: false }}
          connectNulls={false}
          curveType="linear"
        />
      </Plot>
    </div>
  );
}

function Plot({ title, figure, children }: { title: string; figure: string; children: ReactNode }) {
  return (
    <figure className={styles.plot} aria-label={`${title}: ${figure}`}>
      <figcaption className={styles.caption}>
        {title} <span>{figure}</span>
      </figcaption>
      {children}
    </figure>
  );
}
