/** The few figures one looks at first. */
import type { Figures } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { RateText } from "@/shared/ui/tables/rate";

import styles from "./reports.module.css";

export function Tiles({ figures }: { figures: Figures }) {
  const { t, duration, number } = useI18n();
  const time = (ms: number | null) => (ms === null ? "–" : duration(ms));
  return (
    <dl className={styles.tiles}>
      <div>
        <dt>{t("reports.episodes")}</dt>
        <dd>{number(figures.episodes)}</dd>
        <dd className={styles.note}>{t("reports.finished_of", { count: figures.finished })}</dd>
      </div>
      <div>
        <dt>{t("reports.steps")}</dt>
        <dd>{number(figures.steps)}</dd>
        <dd className={styles.note}>
          {figures.hours > 0 ? t("reports.per_hour", { count: Math.round(figures.steps / figures.hours) }) : "–"}
        </dd>
      </div>
      <div>
        <dt>{t("reports.override")}</dt>
        <dd>
          <RateText rate={figures.override} />
        </dd>
      </div>
      <div>
        <dt>{t("reports.success")}</dt>
        <dd>
          <RateText rate={figures.success} />
        </dd>
      </div>
      <div>
        <dt>{t("reports.decide")}</dt>
        <dd>{time(figures.decide_p50_ms)}</dd>
        <dd className={styles.note}>{t("reports.p95", { time: time(figures.decide_p95_ms) })}</dd>
      </div>
      <div>
        <dt>{t("reports.step")}</dt>
        <dd>{time(figures.step_p50_ms)}</dd>
        <dd className={styles.note}>{t("reports.p95", { time: time(figures.step_p95_ms) })}</dd>
      </div>
    </dl>
  );
}
