/** How far the newest request for drafts is, and what was left out of the replies and why. */
import { Button, Progress } from "@mantine/core";

import type { DraftRequestOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";

import { isUnderWay, useDraftChange } from "./api";
import styles from "./drafts.module.css";

export function RequestState({ request, admin }: { request: DraftRequestOut; admin: boolean }) {
  const { t } = useI18n();
  const change = useDraftChange();
  const { id, status, writer, drafts, count, cells, cells_done, left_out } = request;
  const running = isUnderWay(status);
  return (
    <section className={styles.request} aria-label={t("drafts.request")}>
      <div className={styles.head}>
        <p role="status" className={styles.text} data-failed={status === "failed" || undefined}>
          {t(`drafts.request.${status === "queued" ? "running" : status}`, { writer, drafts, wanted: count, done: cells_done, cells, why: request.error })}
        </p>
        {running && admin && (
          <Button size="compact-xs" variant="default" loading={change.isPending} onClick={() => change.mutate({ type: "cancel", request: id })}>
            {t("design.cancel")}
          </Button>
        )}
      </div>
      {running && <Progress aria-label={t("drafts.request")} value={(100 * cells_done) / Math.max(1, cells)} />}
      <Problem error={change.error} />
      {left_out.length > 0 && (
        <details>
          <summary>{t("drafts.left_out", { count: left_out.length })}</summary>
          <ul className={styles.left}>
            {left_out.map(({ text, reason, detail }, place) => (
              <li key={`${place} ${text}`}>
                <strong>{t(`drafts.left_out.${reason}`)}</strong> {text}
                {detail && detail !== text && <span className={styles.note}> ({detail})</span>}
              </li>
            ))}
          </ul>
        </details>
      )}
    </section>
  );
}
