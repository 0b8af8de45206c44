/** Why a change was refused, field by field where the server says so. */
import type { UseMutationResult } from "@tanstack/react-query";

import { ApiError, messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import type { Change } from "./api";
import styles from "./policies.module.css";

export function Problem({ of: { error } }: { of: UseMutationResult<unknown, Error, Change> }) {
  const { t } = useI18n();
  if (error === null) return null;
  return (
    <div role="alert" className={styles.problem}>
      {messageOf(error, t).text}
      {fieldsOf(error).map(({ field, message }) => (
        <div key={field}>
          <code>{field}</code>: {message}
        </div>
      ))}
    </div>
  );
}

function fieldsOf(error: Error): readonly { field: string; message: string }[] {
  if (!(error instanceof ApiError)) return [];
  return (error.extra as { fields?: { field: string; message: string }[] } | null)?.fields ?? [];
}
