/** How the last probe of a model ended, in a word: hits, what is wrong, or that there is none. */
import type { ProbeOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import { isUnderWay, severityOf } from "./api";

export function ProbeBadge({ probe }: { probe: ProbeOut | undefined }) {
  const { t, moment } = useI18n();
  if (!probe) return <Badge tone="neutral">{t("probes.none")}</Badge>;
  if (isUnderWay(probe)) return <Badge tone="policy">{t("probes.running")}</Badge>;
  if (probe.status === "cancelled") return <Badge tone="neutral">{t("probes.cancelled")}</Badge>;
  const rate = probe.report?.grounding?.rate;
  const finding = probe.report?.findings.find(({ severity }) => severity === "error");
  const title = moment(probe.finished_at ?? probe.created_at);
  return (
    <Badge tone={severityOf(probe)} title={title}>
      {probe.status === "failed"
        ? t("probes.failed")
        : finding
          ? t(`probes.finding.${finding.code}`)
          : rate
            ? t("probes.hits", { count: rate.successes, all: rate.attempts })
            : t("probes.done")}
    </Badge>
  );
}
