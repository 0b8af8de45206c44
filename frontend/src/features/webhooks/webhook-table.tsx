/** The webhooks there are, and what can be done with each. */
import { Button, Switch } from "@mantine/core";

import type { WebhookMade, WebhookOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { ConfirmButton } from "@/shared/ui/confirm-button";
import { DataTable } from "@/shared/ui/tables/data-table";
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
  return (
    <>
      <DataTable
        label={t("webhooks.title")}
        rows={rows}
        keyOf={(row) => row.id}
        columns={[
          { header: t("webhooks.url"), kind: "name", className: styles.url, cell: (row) => row.url },
          {
            header: t("webhooks.events"),
            cell: (row) => row.events.map((event) => t(`webhooks.event.${event}`)).join(", "),
          },
          {
            header: t("webhooks.on"),
            cell: (row) => (
              <Switch
                aria-label={t("webhooks.on_one", { url: row.url })}
                checked={row.enabled}
                disabled={change.isPending}
                onChange={(event) => change.mutate({ type: "enable", id: row.id, enabled: event.currentTarget.checked })}
              />
            ),
          },
          { header: t("webhooks.pending"), kind: "number", cell: (row) => row.pending },
          { header: t("webhooks.refusals"), kind: "number", cell: (row) => row.refusals },
          {
            header: t("webhooks.actions"),
            kind: "actions",
            cell: (row) => (
              <>
                <Button
                  variant="default"
                  size="compact-xs"
                  disabled={!row.enabled}
                  aria-label={t("webhooks.ping_one", { url: row.url })}
                  onClick={() => change.mutate({ type: "ping", id: row.id }, { onSuccess: () => onShow(row) })}
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
                <ConfirmButton
                  label={t("webhooks.secret.new")}
                  ariaLabel={t("webhooks.secret.new_one", { url: row.url })}
                  confirmation={t("webhooks.secret.new.ask")}
                  onConfirm={() => secret.mutateAsync(row.id).then(onSecret)}
                />
                <ConfirmButton
                  label={t("webhooks.remove")}
                  ariaLabel={t("webhooks.remove_one", { url: row.url })}
                  confirmation={t("webhooks.remove.ask", { url: row.url })}
                  onConfirm={() => change.mutateAsync({ type: "remove", id: row.id })}
                />
              </>
            ),
          },
        ]}
      />
      <Problem error={change.error} />
    </>
  );
}
