/** What the browser did by itself since the last step, in words, over the picture. */
import { TriangleAlert } from "lucide-react";

import { shownIn } from "@/features/annotate/viewport/shown";
import { useDesk } from "@/features/annotate/use-workspace";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./browser.module.css";

const MOST = 4;

export function PageEvents() {
  const { t } = useI18n();
  // Where a page moved to, the address says.
  const events = (shownIn(useDesk())?.page?.events ?? []).filter(({ kind }) => kind !== "navigated");
  if (events.length === 0) return null;
  return (
    <ul className={styles.events} aria-label={t("browser.events")} aria-live="polite">
      {events.slice(-MOST).map(({ kind, text }, index) => (
        <li key={index} title={text}>
          <TriangleAlert size={13} aria-hidden /> <strong>{t(`browser.event.${kind}`)}</strong> <span>{text}</span>
        </li>
      ))}
      {events.length > MOST && <li>{t("browser.events.more", { count: events.length - MOST })}</li>}
    </ul>
  );
}
