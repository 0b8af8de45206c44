/** Asks before a rule begins to delete, with what it would delete now. */
import { Button, Group } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useEffect } from "react";

import type { RuleOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { retentionQuery, useChange } from "./api";
import styles from "./retention.module.css";
import { DeletionPreview } from "./deletion-preview";

export function SwitchDialog({ rule, onClose }: { rule: RuleOut | null; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={rule !== null} onClose={onClose} title={rule ? t("retention.asking", { what: t(`retention.what.${rule.what}`) }) : ""}>
      {rule && <SwitchConfirmation id={rule.id} onClose={onClose} />}
    </Dialog>
  );
}

function SwitchConfirmation({ id, onClose }: { id: number; onClose: () => void }) {
  const { t } = useI18n();
  const counting = useChange();
  const switching = useChange();
  const { data } = useQuery(retentionQuery);
  const rule = data?.rules.find((one) => one.id === id);
  const { mutate } = counting;
  useEffect(() => mutate({ type: "preview", id }), [mutate, id]);
  return (
    <div className={styles.confirmation}>
      <p className={styles.words}>{t("retention.asking.help")}</p>
      <div role="status">
        {counting.isPending || rule === undefined ? t("retention.counting") : <DeletionPreview rule={rule} />}
      </div>
      <Problem error={counting.error ?? switching.error} />
      <Group justify="end">
        <Button variant="default" onClick={onClose}>
          {t("common.cancel")}
        </Button>
        <Button
          color="red"
          disabled={!counting.isSuccess}
          loading={switching.isPending}
          onClick={() => switching.mutate({ type: "on", id }, { onSuccess: onClose })}
        >
          {t("retention.switch_on")}
        </Button>
      </Group>
    </div>
  );
}
