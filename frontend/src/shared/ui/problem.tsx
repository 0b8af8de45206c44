/** Why a change was refused: one line beside what was tried. */
import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./states.module.css";

export function Problem({ error }: { error: Error | null }) {
  const { t } = useI18n();
  if (error === null) return null;
  return (
    <p role="alert" className={styles.problem}>
      {messageOf(error, t).text}
    </p>
  );
}
