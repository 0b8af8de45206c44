/** The webhooks there are, and what can be done with each. */
import { Button, Switch } from "@mantine/core";
import { useState } from "react";

import type { WebhookMade, WebhookOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/data-table";
import { Dialog } from "@/shared/ui/dialog";
import { Problem } from "@/shared/ui/problem";

import { useChange, useNewSecret } from "./api";
import styles from "./webhooks.module.css";

type Props = {
  readonly rows: readonly WebhookOut[];
  readonly onShow: (webhook: WebhookOut) => void;
  readonly onSecret: (made: WebhookMade) => void;
};

export function WebhookTable({ rows, onShow, onSecret }: Props) {
  const { t } = useI18n();
  const change = useChange();
  const secret = useNewSecret();
  const [removing, setRemoving] = useState<WebhookOut | null>(null);
  return (
    <>
      <DataTable
        label={t("webhooks.title")}
        rows={rows}
        keyOf={(row) => row.id}
        columns={[
          { head: t("webhooks.url"), kind: "name", className: styles.url, cell: (row) => row.url },
          {
            head: t("webhooks.events"),
            cell: (row) => row.events.map((event) => t(`webhooks.event.${event}`)).join(", "),
          },
          {
            head: t("webhooks.on"),
            cell: (row) => (
              <Switch
                aria-label={t("webhooks.on_one", { url: row.url })}
                checked={row.enabled}
                disabled={change.isPending}
                onChange={(event) => change.mutate({ do: "enable", id: row.id, enabled: event.currentTarget.checked })}
              />
            ),
          },
          { head: t("webhooks.pending"), kind: "number", cell: (row) => row.pending },
          { head: t("webhooks.refusals"), kind: "number", cell: (row) => row.refusals },
          {
            head: t("webhooks.actions"),
            kind: "actions",
            cell: (row) => (
              <>
                <Button
                  variant="default"
                  size="compact-xs"
                  disabled={!row.enabled}
                  aria-label={t("webhooks.ping_one", { url: row.url })}
                  onClick={() => change.mutate({ do: "ping", id: row.id }, { onSuccess: () => onShow(row) })}
                >
                  {t("webhooks.ping")}
                </Button>
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={t("webhooks.messages_one", { url: row.url })}
                  onClick={() => onShow(row)}
                >
                  {t("webhooks.messages")}
                </Button>
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={t("webhooks.secret.new_one", { url: row.url })}
                  onClick={() => secret.mutate(row.id, { onSuccess: onSecret })}
                >
                  {t("webhooks.secret.new")}
                </Button>
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={t("webhooks.remove_one", { url: row.url })}
                  onClick={() => setRemoving(row)}
                >
                  {t("webhooks.remove")}
                </Button>
              </>
            ),
          },
        ]}
      />
      <Problem error={change.error ?? secret.error} />
      <Dialog opened={removing !== null} onClose={() => setRemoving(null)} title={t("webhooks.remove.title")}>
        <p className={styles.asked}>{t("webhooks.remove.ask", { url: removing?.url ?? "" })}</p>
        <div className={styles.buttons}>
          <Button variant="default" onClick={() => setRemoving(null)}>
            {t("webhooks.keep")}
          </Button>
          <Button
            color="red"
            onClick={() => removing && change.mutate({ do: "remove", id: removing.id }, { onSettled: () => setRemoving(null) })}
          >
            {t("webhooks.remove")}
          </Button>
        </div>
      </Dialog>
    </>
  );
}
