/** One part: its state as a mark and a word, what was counted, since when, and what to do. */
import { CircleCheck, CircleX, TriangleAlert } from "lucide-react";

import type { Check } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { describeFigures } from "./figures";
import styles from "./health.module.css";

const MARKS = { ok: CircleCheck, warn: TriangleAlert, down: CircleX } as const;

export function StateMark({ state }: { state: Check["state"] }) {
  const Mark = MARKS[state];
  return <Mark size={16} className={styles.mark} data-state={state} aria-hidden />;
}

export function CheckRow({ check, at }: { check: Check; at: string }) {
  const i18n = useI18n();
  const { t, relative } = i18n;
  const now = new Date(at).getTime();
  const figures = describeFigures(check, i18n, now);
  return (
    <li className={styles.row}>
      <span className={styles.state} data-state={check.state}>
        <StateMark state={check.state} />
        {t(`health.state.${check.state}`)}
      </span>
      <div className={styles.what}>
        <strong>{t(`health.kind.${check.kind}`)}</strong> {check.subject && <span className={styles.subject}>{check.subject}</span>}
        {figures && <div className={styles.note}>{figures}</div>}
        {check.problem && (
          <p className={styles.problem}>
            <strong>{t(`health.problem.${check.problem}`)}</strong> {check.problem !== "starting" && t(`health.do.${check.kind}`)}
            {check.detail && <code className={styles.detail}>{check.detail}</code>}
          </p>
        )}
      </div>
      <time className={styles.since} dateTime={check.since} title={i18n.moment(check.since)}>
        {t("health.since", { when: relative(check.since, now) })}
      </time>
    </li>
  );
}
