/** A webhook's secret, shown once. */
import { Button, CopyButton, TextInput } from "@mantine/core";

import type { WebhookMade } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";

import styles from "./webhooks.module.css";

export function SecretDialog({ made, onClose }: { made: WebhookMade | null; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={made !== null} onClose={onClose} title={t("webhooks.secret.title")}>
      {made && (
        <div className={styles.fields}>
          <TextInput readOnly label={made.webhook.url} description={t("webhooks.secret.help")} value={made.secret} />
          <div className={styles.buttons}>
            <CopyButton value={made.secret}>
              {({ copied, copy }) => (
                <Button variant="default" onClick={copy}>
                  {t(copied ? "webhooks.secret.copied" : "webhooks.secret.copy")}
                </Button>
              )}
            </CopyButton>
            <Button onClick={onClose}>{t("webhooks.secret.saved")}</Button>
          </div>
        </div>
      )}
    </Dialog>
  );
}
