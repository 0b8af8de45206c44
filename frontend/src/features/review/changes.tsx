/** What changed since it was sent back, or a recorded session came in: each step as it was, and as it is. */
import { Link } from "react-router";

import type { Change, ReviewDetails } from "@/generated/api";
import { describeAction } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import styles from "./review.module.css";

const TONE = { changed: "warn", added: "ok", removed: "danger" } as const;

export function Changes({ details: { changes, previous, rounds } }: { details: ReviewDetails }) {
  const { t } = useI18n();
  if (changes.length === 0 && previous === null) return null;
  const isSentBack = previous !== null || rounds.some(({ decision }) => decision === "return");
  return (
    <div className={styles.group}>
      <h3 className={styles.title}>
        {t(isSentBack ? "review.changes" : "review.changes.recorded", { count: changes.length })}
        {previous && <Link to={`/episodes/${previous}`}>{t("review.changes.previous")}</Link>}
      </h3>
      <ul className={styles.list}>
        {changes.map((change) => (
          <ChangeItem key={`${change.before?.index ?? ""} ${change.after?.index ?? ""}`} change={change} />
        ))}
      </ul>
    </div>
  );
}

function ChangeItem({ change: { kind, before, after } }: { change: Change }) {
  const i18n = useI18n();
  const { t } = i18n;
  return (
    <li className={styles.item}>
      <Badge tone={TONE[kind]}>{t(`review.change.${kind}`)}</Badge> {t("review.step", { number: ((after ?? before)?.index ?? 0) + 1 })}
      {before && (
        <p className={styles.old}>
          <del>
            {before.thought} {describeAction(before.action, i18n)}
          </del>
        </p>
      )}
      {after && (
        <p>
          {after.thought} {describeAction(after.action, i18n)}
        </p>
      )}
    </li>
  );
}
