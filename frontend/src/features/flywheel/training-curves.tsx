/** What the trainer measured of a cycle's trainings, update by update, also compared with another cycle. */
import { LineChart } from "@mantine/charts";
import "@mantine/charts/styles.css";
import { NativeSelect } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { Curve, TurnOut, WheelOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { cycleQuery, flywheelsQuery } from "./api";
import { curvePoints, figureName, isNamed, NAMED_FIGURES, trainingName } from "./figures";
import styles from "./flywheel.module.css";

export function TrainingCurves({ cycle }: { cycle: TurnOut }) {
  const { t } = useI18n();
  const flywheels = useQuery(flywheelsQuery);
  const [other, setOther] = useState("");
  const compared = useQuery({ ...cycleQuery(other), enabled: other !== "" });
  const curves = cycle.curves.filter(({ updates }) => updates.length > 1);
  if (curves.length === 0) return null;
  const others = comparable(flywheels.data ?? [], cycle);
  return (
    <>
      {others.length > 0 && (
        <div className={styles.choice}>
          <NativeSelect
            size="xs"
            label={t("flywheel.curve.compare")}
            value={other}
            onChange={(event) => setOther(event.currentTarget.value)}
            data={[
              { value: "", label: t("flywheel.curve.compare.none") },
              ...others.map(({ id, flywheel, number }) => ({ value: id, label: t("flywheel.cycle_of", { number, flywheel }) })),
            ]}
          />
        </div>
      )}
      {curves.map((curve) => (
        <Training
          key={`${curve.phase} ${curve.domain}`}
          curve={curve}
          comparison={
            compared.data && {
              name: t("flywheel.cycle_of", { number: compared.data.row.number, flywheel: compared.data.wheel }),
              curve: compared.data.curves.find(({ phase, domain }) => phase === curve.phase && domain === curve.domain),
            }
          }
        />
      ))}
      <p className={styles.note}>
        <span className={styles.quiet}>{t("flywheel.curve.files", { folder: cycle.folder })}</span>
      </p>
    </>
  );
}

/** Other cycles that trained something, of any flywheel. */
function comparable(flywheels: readonly WheelOut[], { row }: TurnOut) {
  return flywheels.flatMap(({ name, turns }) =>
    turns.filter(({ id, stages }) => id !== row.id && stages.some((stage) => stage.name === "train")).map(({ id, number }) => ({ id, number, flywheel: name })),
  );
}

type Comparison = { readonly name: string; readonly curve: Curve | undefined };

/** The figures that have a name of their own; all others open on request. */
function Training({ curve, comparison }: { curve: Curve; comparison: Comparison | undefined }) {
  const { t } = useI18n();
  const [open, setOpen] = useState(false);
  const written = Object.keys(curve.figures);
  const named = NAMED_FIGURES.filter((name) => written.includes(name));
  const others = written.filter((name) => !isNamed(name)).sort();
  return (
    <section aria-label={trainingName(curve, t)}>
      <div className={styles.curves}>
        {named.map((name) => (
          <CurveFigure key={name} name={name} curve={curve} comparison={comparison} />
        ))}
      </div>
      {others.length > 0 && (
        <details className={styles.note} onToggle={(event) => setOpen(event.currentTarget.open)}>
          <summary>{t("flywheel.curve.more", { count: others.length })}</summary>
          <div className={styles.curves}>{open && others.map((name) => <CurveFigure key={name} name={name} curve={curve} comparison={comparison} />)}</div>
        </details>
      )}
    </section>
  );
}

function CurveFigure({ name, curve, comparison }: { name: string; curve: Curve; comparison: Comparison | undefined }) {
  const { t, number, rounded } = useI18n();
  const what = figureName(name, t);
  const phase = trainingName(curve, t);
  const other = comparison?.curve?.figures[name] ? { name: comparison.name, curve: comparison.curve } : undefined;
  const own = other ? t("flywheel.curve.this_cycle") : what;
  const last = curve.figures[name]?.at(-1);
  return (
    <figure
      className={styles.chart}
      aria-label={t("flywheel.curve", { phase, what, updates: curve.updates.at(-1) ?? 0, value: number(last, 3) })}
    >
      <figcaption className={styles.caption}>
        {phase}: {what}
        {other && ` · ${t("flywheel.curve.dashed", { cycle: other.name })}`}
      </figcaption>
      <LineChart
        h={140}
        dataKey="update"
        data={[...curvePoints(name, { [own]: curve, ...(other ? { [other.name]: other.curve } : {}) })]}
        lineChartProps={{ accessibilityLayer: false }}
        xAxisProps={{ interval: "equidistantPreserveStart", padding: { right: 12 } }}
        yAxisProps={{ tickCount: 3, domain: ["auto", "auto"], width: 56 }}
        valueFormatter={(value) => rounded(value)}
        withDots={false}
        series={[
          { name: own, color: "var(--ph-auto)" },
          ...(other ? [{ name: other.name, color: "var(--ph-override)", strokeDasharray: "5 5" }] : []),
        ]}
        connectNulls
        curveType="linear"
      />
    </figure>
  );
}
