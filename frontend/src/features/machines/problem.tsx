/** Why a change was refused. */
import type { UseMutationResult } from "@tanstack/react-query";

import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import type { Change } from "./api";
import styles from "./machines.module.css";

export function Problem({ of: { error } }: { of: UseMutationResult<null, Error, Change> }) {
  const { t } = useI18n();
  if (error === null) return null;
  return (
    <p role="alert" className={styles.problem}>
      {messageOf(error, t).text}
    </p>
  );
}
