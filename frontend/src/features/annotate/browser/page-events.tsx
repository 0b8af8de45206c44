/** What the browser did by itself since the last step, in words, over the picture. */
import { TriangleAlert } from "lucide-react";

import { viewedObservation } from "@/features/annotate/viewport/viewed-step";
import { useWorkspace } from "@/features/annotate/use-workspace";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./browser.module.css";

const MAX_VISIBLE = 4;

export function PageEvents() {
  const { t } = useI18n();
  // Where a page moved to, the address says.
  const events = (viewedObservation(useWorkspace())?.page?.events ?? []).filter(({ kind }) => kind !== "navigated");
  if (events.length === 0) return null;
  return (
    <ul className={styles.events} aria-label={t("browser.events")} aria-live="polite">
      {events.slice(-MAX_VISIBLE).map(({ kind, text }, index) => (
        <li key={index} title={text}>
          <TriangleAlert size={13} aria-hidden /> <strong>{t(`browser.event.${kind}`)}</strong> <span>{text}</span>
        </li>
      ))}
      {events.length > MAX_VISIBLE && <li>{t("browser.events.more", { count: events.length - MAX_VISIBLE })}</li>}
    </ul>
  );
}
