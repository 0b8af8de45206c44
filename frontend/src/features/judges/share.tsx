/** How many of how many, with the bounds chance leaves. */
import type { Rate } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./judges.module.css";

export function Share({ rate }: { rate: Rate | null }) {
  const { t, percent } = useI18n();
  if (rate === null) return <>–</>;
  const { successes, attempts } = rate;
  return (
    <span title={t("judges.interval", { low: percent(rate.low), high: percent(rate.high) })}>
      {percent(rate.rate)}{" "}
      <span className={styles.note}>
        {t("judges.of", { count: successes, all: attempts })}, {percent(rate.low)}–{percent(rate.high)}
      </span>
    </span>
  );
}
