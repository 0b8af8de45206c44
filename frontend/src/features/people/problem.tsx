/** Why a change was refused. */
import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./people.module.css";

export function Problem({ error }: { error: Error | null }) {
  const { t } = useI18n();
  return (
    <p role="alert" className={styles.problem}>
      {error && messageOf(error, t).text}
    </p>
  );
}
