/** The screens of a probe, with the targets and where the replies click: a green dot hits, a red one misses. */
import { NativeSelect } from "@mantine/core";
import { useState } from "react";

import type { GroundingPoint } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { screenPath } from "./api";
import styles from "./probes.module.css";

export function GroundingPictures({ points }: { points: readonly GroundingPoint[] }) {
  const { t } = useI18n();
  const screens = [...new Set(points.map(({ screen }) => screen))];
  const worst = screens.find((screen) => points.some((point) => point.screen === screen && !point.hit));
  const [chosen, setChosen] = useState<string | null>(null);
  const screen = screens.find((each) => each === chosen) ?? worst ?? screens[0];
  const here = points.filter((point) => point.screen === screen);
  const [first] = here;
  if (screen === undefined || first === undefined) return null;
  const label = (name: string) => {
    const mine = points.filter((point) => point.screen === name);
    const { width, height } = mine[0] ?? { width: 0, height: 0 };
    return t("probes.picture", {
      size: `${width}×${height}`,
      count: mine.filter(({ hit }) => hit).length,
      all: mine.length,
    });
  };
  return (
    <div className={styles.pictures}>
      <NativeSelect
        label={t("probes.pictures")}
        value={screen}
        onChange={(event) => setChosen(event.currentTarget.value)}
        data={screens.map((value) => ({ value, label: label(value) }))}
      />
      <Picture screen={screen} points={here} size={first} />
      <ol className={styles.points}>
        {here.map((point, place) => (
          <li key={point.instruction} data-hit={point.hit || undefined}>
            {place + 1}. {point.instruction}{" "}
            <span className={styles.note}>
              {point.hit ? t("probes.hit") : point.x === null ? t("probes.unread", { code: point.error }) : t("probes.missed")}
            </span>
            {!point.hit && point.reply && <code className={styles.reply}>{point.reply}</code>}
          </li>
        ))}
      </ol>
    </div>
  );
}

type PictureProps = {
  readonly screen: string;
  readonly points: readonly GroundingPoint[];
  readonly size: { readonly width: number; readonly height: number };
};

function Picture({ screen, points, size: { width, height } }: PictureProps) {
  const { t } = useI18n();
  const unit = Math.max(width, height) / 200;
  return (
    <div
      className={styles.picture}
      style={{
        aspectRatio: `${width} / ${height}`,
        maxWidth: Math.max(width, 320),
      }}
    >
      <img src={screenPath(screen)} alt={t("probes.picture.alt")} />
      <svg viewBox={`0 0 ${width} ${height}`} aria-hidden>
        {points.map((point, place) => {
          const { left, top, right, bottom } = point.box;
          const middle = [(left + right) / 2, (top + bottom) / 2] as const;
          return (
            <g key={point.instruction} data-hit={point.hit || undefined} className={styles.mark}>
              <rect x={left} y={top} width={right - left} height={bottom - top} strokeWidth={unit / 2} />
              {point.x !== null && point.y !== null && (
                <>
                  <line x1={middle[0]} y1={middle[1]} x2={point.x} y2={point.y} strokeWidth={unit / 3} />
                  <circle cx={point.x} cy={point.y} r={unit} />
                </>
              )}
              <text x={right + unit} y={top + unit * 2} fontSize={unit * 4}>
                {place + 1}
              </text>
            </g>
          );
        })}
      </svg>
    </div>
  );
}
