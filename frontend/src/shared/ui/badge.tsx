/** Small words in the colour of what they say: who decided, how it ended, what a verifier found. */
import type { ReactNode } from "react";

import type { EpisodeSummary } from "@/generated/api";
import type { Decision, EpisodeStatus, Mark, Outcome, PolicyRef, Verdict } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./badge.module.css";

export type BadgeTone = Decision | "policy" | "ok" | "warn" | "danger" | "neutral";

export function Badge({ tone, title, children }: { tone: BadgeTone; title?: string; children: ReactNode }) {
  return (
    <span className={styles.badge} data-tone={tone} title={title}>
      {children}
    </span>
  );
}

export function DecisionBadge({ decision }: { decision: Decision }) {
  const { t } = useI18n();
  return (
    <Badge tone={decision} title={t(`decision.${decision}.help`)}>
      {t(`decision.${decision}`)}
    </Badge>
  );
}

export function MarkBadge({ mark }: { mark: Mark }) {
  const { t } = useI18n();
  return <Badge tone={mark === "wrong" ? "danger" : "ok"}>{t(`mark.${mark}`)}</Badge>;
}

export function OutcomeBadge({ outcome }: { outcome: Outcome | null }) {
  const { t } = useI18n();
  const tone = { success: "ok", failure: "danger", infeasible: "warn", skipped: "neutral", broken: "warn" } as const;
  return <Badge tone={outcome ? tone[outcome] : "neutral"}>{t(`outcome.${outcome ?? "none"}`)}</Badge>;
}

export function VerdictBadge({ verdict }: { verdict: Verdict | null }) {
  const { t } = useI18n();
  const found = verdict?.success ?? null;
  if (found === null) return <Badge tone="neutral">{t("verdict.unknown")}</Badge>;
  return (
    <Badge tone={found ? "ok" : "danger"} title={verdict?.reason}>
      {t(found ? "verdict.success" : "verdict.failure")}
    </Badge>
  );
}

export function StatusBadge({ status }: { status: EpisodeStatus }) {
  const { t } = useI18n();
  const tone = { warming: "neutral", running: "policy", paused: "warn", finished: "ok", left: "neutral", failed: "danger" } as const;
  return <Badge tone={tone[status]}>{t(`status.${status}`)}</Badge>;
}

export function ReviewBadge({ review }: { review: EpisodeSummary["review"] }) {
  const { t } = useI18n();
  const tone = { pending: "neutral", accepted: "ok", returned: "warn", rejected: "danger" } as const;
  return <Badge tone={tone[review]}>{t(`review.${review}`)}</Badge>;
}

/** Name and revision of a policy; says so where it is a script. */
export function PolicyBadge({ policy }: { policy: PolicyRef | null }) {
  const { t } = useI18n();
  if (!policy) return <Badge tone="neutral">{t("policy.none")}</Badge>;
  return (
    <span className={styles.policy}>
      {policy.name} {policy.revision}
      {policy.scripted && <Badge tone="warn">{t("policy.scripted")}</Badge>}
    </span>
  );
}

/** Whether a verifier and a person contradict each other about success. */
export function disagree(outcome: Outcome | null, verdict: Verdict | null): boolean {
  const verified = verdict?.success ?? null;
  if (verified === null || outcome === null || outcome === "skipped" || outcome === "broken") return false;
  return verified !== (outcome === "success");
}
