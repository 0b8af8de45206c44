/** Where two review an episode, above everything else: what that means now, and what both would decide once this person may
 *  see it. */
import type { ReviewDetails } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./review.module.css";

type Opinions = Pick<ReviewDetails, "opinions" | "blind">;

const openOpinions = ({ opinions }: Opinions) => opinions.filter(({ round }) => round === null);

/** This person has decided, and another reviewer is still to. */
export const hasDecided = (details: ReviewDetails) => openOpinions(details).some(({ mine }) => mine);

export function IndependentReview({ details }: { details: Opinions }) {
  const { t } = useI18n();
  const open = openOpinions(details);
  const disputed = open.length > 1;
  if (!details.blind && open.length === 0) return null;
  return (
    <div className={styles.returned} role="status">
      <p className={styles.words}>{t(details.blind ? "review.blind" : disputed ? "review.disputed" : "review.opinion_given")}</p>
      {disputed && (
        <ul className={styles.list}>
          {open.map(({ reviewer, decision, reason }) => (
            <li key={reviewer} className={styles.item}>
              {t(`review.opinion.${decision}`, { name: reviewer })}
              {reason && <p>{reason}</p>}
            </li>
          ))}
        </ul>
      )}
    </div>
  );
}
