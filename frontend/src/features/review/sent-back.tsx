/** For its annotator, above everything else: why an episode was sent back, and what is wrong with the step at hand. */
import { Button } from "@mantine/core";

import type { ReviewDetails } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./review.module.css";
import { faultySteps } from "./step-marks";
import { StepVerdictBadge } from "./step-review";

type Props = { details: ReviewDetails; current: number; onSelect: (index: number) => void };

export function SentBack({ details, current, onSelect }: Props) {
  const { t } = useI18n();
  const last = details.rounds.at(-1);
  if (details.may !== "mend" || last?.decision !== "return") return null;
  const remarks = details.remarks.filter(({ index, round }) => index === current && round === last.number);
  const faulty = faultySteps(details);
  return (
    <section className={styles.returned} aria-label={t("review.sent_back")}>
      <h2 className={styles.title}>{t("review.decision.return", { name: last.reviewer })}</h2>
      <p className={styles.words}>{last.reason}</p>
      {remarks.map(({ reviewer, verdict, comment }) => (
        <p key={reviewer} className={styles.words}>
          {t("review.step", { number: current + 1 })} {verdict && <StepVerdictBadge verdict={verdict} />} {comment}
        </p>
      ))}
      {faulty.length > 0 && (
        <div className={styles.verdicts} role="group" aria-label={t("review.faulty")}>
          {faulty.map((index) => (
            <Button
              key={index}
              size="compact-sm"
              variant={index === current ? "filled" : "default"}
              aria-pressed={index === current}
              onClick={() => onSelect(index)}
            >
              {t("review.step", { number: index + 1 })}
            </Button>
          ))}
        </div>
      )}
    </section>
  );
}
