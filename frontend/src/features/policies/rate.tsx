/** A rate with its interval and how many it rests on. */
import type { Rate } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

export function RateText({ rate }: { rate: Rate | null }) {
  const { t, percent } = useI18n();
  if (rate === null) return <>{t("policies.no_rate")}</>;
  return (
    <>
      {t("policies.rate", {
        percent: percent(rate.rate),
        low: percent(rate.low),
        high: percent(rate.high),
        count: rate.attempts,
      })}
    </>
  );
}
