/** Why drafts are left out: one of the usual reasons, or another one. */
import { Button, Textarea } from "@mantine/core";
import { useState } from "react";

import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";

import styles from "./drafts.module.css";

const REASONS = ["unclear", "unverifiable", "unrealistic", "duplicate"] as const;

type Props = { readonly count: number; readonly onClose: () => void; readonly onReject: (reason: string) => void };

export function RejectDialog({ count, onClose, onReject }: Props) {
  const { t } = useI18n();
  const [reason, setReason] = useState("");
  return (
    <Dialog opened onClose={onClose} title={t("drafts.reject_some", { count })}>
      <form
        className={styles.stack}
        onSubmit={(event) => {
          event.preventDefault();
          onReject(reason.trim());
        }}
      >
        <div className={styles.actions} data-start role="group" aria-label={t("drafts.reasons")}>
          {REASONS.map((name) => (
            <Button key={name} size="compact-sm" variant="default" onClick={() => onReject(t(`drafts.reason.${name}`))}>
              {t(`drafts.reason.${name}`)}
            </Button>
          ))}
        </div>
        <Textarea
          data-autofocus
          label={t("drafts.reason")}
          maxLength={500}
          autosize
          minRows={2}
          value={reason}
          onChange={(event) => setReason(event.currentTarget.value)}
        />
        <div className={styles.actions}>
          <Button variant="default" onClick={onClose}>
            {t("common.cancel")}
          </Button>
          <Button type="submit" disabled={reason.trim() === ""}>
            {t("drafts.reject")}
          </Button>
        </div>
      </form>
    </Dialog>
  );
}
