/** A rate: its figure, the 95 % interval that chance leaves it, and how many it rests on; a dash where nothing was counted. */
import type { Rate } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./rate.module.css";

type Props = {
  rate: Rate | null;
  /** The figure alone, the rest in its title: for a column of many. */
  bare?: boolean;
};

export function RateText({ rate, bare = false }: Props) {
  const { t, percent } = useI18n();
  if (rate === null) return <>–</>;
  const interval = { low: percent(rate.low), high: percent(rate.high), count: rate.successes, all: rate.attempts };
  if (bare) return <span title={t("rate.help", interval)}>{percent(rate.rate)}</span>;
  return (
    <span title={t("rate.help", interval)}>
      {percent(rate.rate)} <span className={styles.interval}>{t("rate.interval", interval)}</span>
    </span>
  );
}

/** A rate in per cent with one decimal, for charts; null where nothing was counted. */
export const ratePercent = (rate: Rate | null | undefined): number | null => (rate ? Math.round(rate.rate * 1_000) / 10 : null);
