/** What trainings came to at their end, cycle by cycle: one figure at a time. */
import { LineChart } from "@mantine/charts";
import "@mantine/charts/styles.css";
import { NativeSelect } from "@mantine/core";
import { useState } from "react";

import type { Curve, TurnRow } from "@/generated/api";
import { useI18n, type I18n } from "@/shared/i18n/i18n";

import { figureName, figuresByCycle, NAMED_FIGURES } from "./figures";
import styles from "./flywheel.module.css";

const PHASES = ["rl", "pref", "sft", "ct"] as const satisfies readonly Curve["phase"][];

export function CycleCurves({ cycles }: { cycles: readonly TurnRow[] }) {
  const { t, rounded } = useI18n();
  const [chosen, setChosen] = useState<string | null>(null);
  const figures = figuresByCycle(cycles);
  const available = PHASES.flatMap((phase) => NAMED_FIGURES.map((name) => `${phase}/${name}`)).filter((key) => (figures.get(key)?.length ?? 0) > 1);
  const key = chosen !== null && available.includes(chosen) ? chosen : available[0];
  if (key === undefined) return null;
  const points = figures.get(key) ?? [];
  const name = titleOf(key, t);
  return (
    <figure className={styles.chart} aria-label={t("flywheel.curve.by_cycle.of", { what: name, cycles: points.length })}>
      <NativeSelect
        size="xs"
        label={t("flywheel.curve.by_cycle")}
        className={styles.figureChoice}
        value={key}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={available.map((each) => ({ value: each, label: titleOf(each, t) }))}
      />
      <LineChart
        h={140}
        dataKey="cycle"
        data={points.map(({ cycle, value }) => ({ cycle: String(cycle), [name]: value }))}
        lineChartProps={{ accessibilityLayer: false }}
        yAxisProps={{ tickCount: 3, domain: ["auto", "auto"], width: 56 }}
        valueFormatter={(value) => rounded(value)}
        series={[{ name, color: "var(--ph-auto)" }]}
        curveType="linear"
      />
    </figure>
  );
}

function titleOf(key: string, t: I18n["t"]): string {
  const [phase = "", name = ""] = key.split("/");
  const known = PHASES.find((each) => each === phase);
  return `${known === undefined ? phase : t(`flywheel.phase.${known}`)}: ${figureName(name, t)}`;
}
