/** Says that a step is one of several actions of one reply, and which of them were not done. */
import type { Step } from "@/generated/vocabulary";
import { describeAction } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";

import styles from "./batch-note.module.css";

export function BatchBadge({ batch }: Pick<Step, "batch">) {
  const { t } = useI18n();
  if (batch === null) return null;
  return <Badge tone="neutral" title={t("batch.help")}>{t("batch.position", { index: batch.index, size: batch.size })}</Badge>;
}

/** Where the reply's thought stands, and the actions that were to follow. Nothing for a step of its own. */
export function BatchNote({ step }: { step: Step }) {
  const i18n = useI18n();
  const { batch, not_done: notDone } = step;
  if (batch === null) return null;
  const first = step.index + 2 - batch.index;
  return (
    <>
      {batch.index > 1 && <p className={styles.note}>{i18n.t("batch.first", { number: first })}</p>}
      {notDone.length > 0 && (
        <p className={styles.note}>
          {i18n.t(step.error ? "batch.not_done_failed" : "batch.not_done", {
            actions: notDone.map((action) => describeAction(action, i18n)).join(" · "),
          })}
        </p>
      )}
    </>
  );
}
