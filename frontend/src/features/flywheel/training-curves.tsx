/** What a cycle's trainings minimised, update by update, and what reinforcement's attempts came to. */
import { LineChart } from "@mantine/charts";
import "@mantine/charts/styles.css";

import type { Curve } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./flywheel.module.css";

export function TrainingCurves({ curves }: { curves: readonly Curve[] }) {
  return (
    <div className={styles.curves}>
      {curves.filter(({ points }) => points.length > 1).map((curve) => <CurveFigure key={curve.phase} curve={curve} />)}
    </div>
  );
}

function CurveFigure({ curve: { phase, points } }: { curve: Curve }) {
  const { t } = useI18n();
  const what = points.some(({ success }) => success !== null) ? "success" : "loss";
  const name = t(`flywheel.curve.${what}`);
  const last = points.at(-1);
  return (
    <figure
      className={styles.chart}
      aria-label={t("flywheel.curve", {
        phase: t(`flywheel.phase.${phase}`),
        what: name,
        updates: last?.update ?? 0,
        value: last?.[what]?.toFixed(3) ?? "–",
      })}
    >
      <figcaption className={styles.caption}>
        {t(`flywheel.phase.${phase}`)}: {name}
      </figcaption>
      <LineChart
        h={140}
        dataKey="update"
        data={points.map((point) => ({ update: point.update, [name]: point[what] }))}
        lineChartProps={{ accessibilityLayer: false }}
        xAxisProps={{ interval: "equidistantPreserveStart", padding: { right: 12 } }}
        yAxisProps={{ tickCount: 3, domain: [0, what === "success" ? 1 : "auto"] }}
        withDots={false}
        series={[{ name, color: "var(--ph-auto)" }]}
        curveType="linear"
      />
    </figure>
  );
}
