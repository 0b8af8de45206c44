/** What a screen shows when it is empty, loading or failed. */
import { Button, Loader } from "@mantine/core";
import { CircleAlert } from "lucide-react";
import type { ReactNode } from "react";

import { messageOf } from "@/shared/api/http";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./states.module.css";

export function Empty({ title, children, action }: { title: string; children?: ReactNode; action?: ReactNode }) {
  return (
    <div className={styles.state}>
      <p className={styles.title}>{title}</p>
      {children && <div className={styles.text}>{children}</div>}
      {action}
    </div>
  );
}

export function Loading() {
  const { t } = useI18n();
  return (
    <div className={styles.state} role="status">
      <Loader size="sm" aria-hidden />
      <span className={styles.text}>{t("common.loading")}</span>
    </div>
  );
}

/** What went wrong in words, with its stable code, and a way to try again. */
export function ErrorState({ error, onRetry }: { error: unknown; onRetry?: () => void }) {
  const { t } = useI18n();
  const { text, code } = messageOf(error, t);
  return (
    <div className={styles.state} role="alert">
      <CircleAlert size={20} className={styles.alert} aria-hidden />
      <p className={styles.title}>{t("error.title")}</p>
      <div className={styles.text}>{text}</div>
      {code && <code className={styles.code}>{t("error.code", { code })}</code>}
      {onRetry && (
        <Button variant="default" onClick={onRetry}>
          {t("common.retry")}
        </Button>
      )}
    </div>
  );
}
