/** What was said of the step at hand and how it was corrected. */
import type { ReviewDetails } from "@/generated/api";
import type { Step, StepVerdict } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { ActionText } from "@/shared/ui/episode/action-text";

import styles from "./review.module.css";

type Props = { details: ReviewDetails; step: Step };

/** Nothing where nothing was said; one's own remark of this round is where it is written. */
export function StepReview({ details, step }: Props) {
  const { t } = useI18n();
  const remarks = details.remarks.filter(
    ({ index, mine, round }) => index === step.index && !(mine && round === details.round && details.may === "review"),
  );
  const fixes = details.fixes.filter(({ index }) => index === step.index);
  if (remarks.length === 0 && fixes.length === 0) return null;
  return (
    <div className={styles.group}>
      <h3 className={styles.title}>{t("review.step", { number: step.index + 1 })}</h3>
      <ul className={styles.list}>
        {remarks.map((remark) => (
          <li key={`${remark.reviewer} ${remark.round}`} className={styles.item}>
            {remark.verdict && <StepVerdictBadge verdict={remark.verdict} />} {t("review.remark_by", { name: remark.reviewer, round: remark.round })}
            {remark.comment && <p>{remark.comment}</p>}
          </li>
        ))}
        {fixes.map((fix) => (
          <li key={`fix ${fix.revision}`} className={styles.item}>
            {t("review.corrected", { revision: fix.revision, name: fix.author })}
            {fix.thought && <p>{fix.thought}</p>}
            <ActionText action={fix.action} />
            {fix.reason && <p className={styles.note}>{fix.reason}</p>}
          </li>
        ))}
      </ul>
    </div>
  );
}

export function StepVerdictBadge({ verdict }: { verdict: StepVerdict }) {
  const { t } = useI18n();
  return <Badge tone={verdict === "right" ? "ok" : verdict === "redundant" ? "warn" : "danger"}>{t(`verdict.${verdict}`)}</Badge>;
}
