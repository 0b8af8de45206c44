/** What a machine without a picture shows: the output of the last act. */
import type { Observation } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./viewport.module.css";

export function TextObservation({ observation }: { observation: Observation }) {
  const { t } = useI18n();
  return (
    <pre className={styles.text} aria-label={t("viewport.output")}>
      {observation.text ?? t("viewport.no_output")}
    </pre>
  );
}
