/** Success at the gate and overrides by people, cycle by cycle; the table of cycles holds the same figures. */
import { LineChart } from "@mantine/charts";
import "@mantine/charts/styles.css";

import type { TurnRow } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ratePercent } from "@/shared/ui/tables/rate";

import styles from "./flywheel.module.css";

export function RateChart({ cycles }: { cycles: readonly TurnRow[] }) {
  const { t, percent } = useI18n();
  const [success, overridden] = [t("flywheel.success"), t("flywheel.overridden")];
  const tried = [...cycles].reverse().filter((cycle) => cycle.success !== null || cycle.overridden !== null);
  if (tried.length < 2) return null;
  return (
    <figure className={styles.chart} aria-label={t("flywheel.chart", { cycles: tried.length })}>
      <LineChart
        h={180}
        dataKey="turn"
        data={tried.map((cycle) => ({
          turn: String(cycle.number),
          [success]: ratePercent(cycle.success),
          [overridden]: ratePercent(cycle.overridden),
        }))}
        withLegend
        lineChartProps={{ accessibilityLayer: false }}
        yAxisProps={{ domain: [0, 100], tickFormatter: (value: number) => percent(value / 100) }}
        series={[
          { name: success, color: "var(--ph-accept)" },
          { name: overridden, color: "var(--ph-override)" },
        ]}
        connectNulls={false}
        curveType="linear"
      />
    </figure>
  );
}
