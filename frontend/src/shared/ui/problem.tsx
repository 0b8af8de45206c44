/** Why a change was refused, beside what was tried: in a line, then field by field, and what somebody else changed meanwhile. */
import { ApiError, messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./states.module.css";

type Extra = {
  readonly fields?: readonly { readonly field: string; readonly message: string }[];
  readonly changed?: Readonly<Record<string, readonly [unknown, unknown]>>;
};

export function Problem({ error }: { error: Error | null }) {
  const { t } = useI18n();
  if (error === null) return null;
  const extra: Extra = error instanceof ApiError ? ((error.extra as Extra | null) ?? {}) : {};
  const { text } = messageOf(error, t);
  return (
    <div role="alert" className={styles.problem} data-problem>
      {text}
      {(extra.fields ?? []).filter(({ message }) => !text.includes(message)).map(({ field, message }) => (
        <div key={field}>
          <code>{field}</code>: {message}
        </div>
      ))}
      {Object.entries(extra.changed ?? {}).map(([field, [before, now]]) => (
        <div key={field}>
          <code>{field}</code>: {t("error.changed_from_to", { before: JSON.stringify(before), now: JSON.stringify(now) })}
        </div>
      ))}
    </div>
  );
}
