/** What stands beside this attempt: others at the same task, near duplicates, and whether it can be done again. */
import { Button, Progress } from "@mantine/core";
import { Link } from "react-router";

import type { JobOut, ReviewDetails } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, OutcomeBadge } from "@/shared/ui/badge";

import { isRunning, type useChange } from "./api";
import styles from "./review.module.css";

type Props = { details: ReviewDetails; change: ReturnType<typeof useChange> };

export function RelatedAttempts({ details, change }: Props) {
  const { t, percent } = useI18n();
  const { siblings, duplicates, episode, check } = details;
  return (
    <>
      {siblings.length > 0 && (
        <div className={styles.group}>
          <h3 className={styles.title}>{t("review.related")}</h3>
          <ul className={styles.list}>
            {siblings.map(({ id, annotator, outcome, chosen }) => (
              <li key={id} className={styles.item}>
                <Link to={`/compare?one=${episode.id}&other=${id}`}>{t("review.compare", { name: annotator })}</Link>{" "}
                <OutcomeBadge outcome={outcome} /> {chosen && <Badge tone="ok">{t("review.chosen")}</Badge>}
              </li>
            ))}
          </ul>
        </div>
      )}
      {duplicates.length > 0 && (
        <div className={styles.group}>
          <h3 className={styles.title}>{t("review.duplicates")}</h3>
          <ul className={styles.list}>
            {duplicates.map(({ id, instruction, text, screens }) => (
              <li key={id} className={styles.item}>
                <Link to={`/episodes/${id}`}>{instruction}</Link>{" "}
                {screens === null
                  ? t("review.alike_text", { text: percent(text) })
                  : t("review.alike", { text: percent(text), screens: percent(screens) })}
              </li>
            ))}
          </ul>
        </div>
      )}
      {details.may === "review" && (
        <div className={styles.group}>
          {check && <CheckStatus check={check} onCancel={() => change.mutate({ type: "cancel", job: check.id })} />}
          {!isRunning(check) && (
            <div className={styles.buttons}>
              <Button size="compact-sm" variant="default" title={t("review.check.help")} onClick={() => change.mutate({ type: "check" })}>
                {t("review.check")}
              </Button>
            </div>
          )}
        </div>
      )}
    </>
  );
}

function CheckStatus({ check, onCancel }: { check: JobOut; onCancel: () => void }) {
  const { t } = useI18n();
  const { status, done, total, error, report } = check;
  if (isRunning(check)) {
    return (
      <div className={styles.group} role="status">
        {status === "queued" ? t("review.check.queued") : t("review.check.progress", { done, total })}
        <Progress value={total === 0 ? 0 : (done / total) * 100} aria-label={t("review.check")} />
        <Button size="compact-sm" variant="default" onClick={onCancel} style={{ alignSelf: "start" }}>
          {t("review.check.cancel")}
        </Button>
      </div>
    );
  }
  if (status === "failed") return <p className={styles.error}>{t("review.check.failed", { why: error })}</p>;
  if (report === null) return <p className={styles.note}>{t("review.check.cancelled")}</p>;
  return (
    <p className={styles.note} role="status">
      <Badge tone={report.executable ? "ok" : "danger"}>
        {t(report.executable ? "review.check.executable" : "review.check.not_executable")}
      </Badge>{" "}
      {report.departs_at !== null && t("review.check.departs", { number: report.departs_at + 1 })}
      {report.verdict?.reason && <span> {report.verdict.reason}</span>}
    </p>
  );
}
