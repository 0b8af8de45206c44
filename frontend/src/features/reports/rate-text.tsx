/** A rate with how many it rests on and its interval; a dash where nothing was counted. */
import type { Rate } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./reports.module.css";

export function RateText({ rate, tile = false }: { rate: Rate | null; tile?: boolean }) {
  const { t, percent } = useI18n();
  if (rate === null) return tile ? <dd>–</dd> : <>–</>;
  const interval = t("reports.interval", { low: percent(rate.low), high: percent(rate.high), count: rate.attempts });
  if (!tile) return <span title={interval}>{percent(rate.rate)}</span>;
  return (
    <>
      <dd>{percent(rate.rate)}</dd>
      <dd className={styles.note}>{interval}</dd>
    </>
  );
}
