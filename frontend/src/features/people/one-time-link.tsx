/** A link that works once and is shown only now, with a button to copy it. */
import { Button, CopyButton, TextInput } from "@mantine/core";

import { useI18n } from "@/shared/i18n/i18n";

import styles from "./people.module.css";

export function OneTimeLink({ label, link, note }: { label: string; link: string; note: string }) {
  const { t } = useI18n();
  return (
    <div className={styles.link} role="status">
      <TextInput readOnly label={label} description={t("invite.link.help")} value={link} />
      <p className={styles.note}>{note}</p>
      <CopyButton value={link}>
        {({ copied, copy }) => (
          <Button variant="default" size="compact-sm" onClick={copy}>
            {t(copied ? "invite.copied" : "invite.copy")}
          </Button>
        )}
      </CopyButton>
    </div>
  );
}
