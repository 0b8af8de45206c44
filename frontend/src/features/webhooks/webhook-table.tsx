/** The webhooks there are, and what can be done with each. */
import { Button, Switch } from "@mantine/core";

import type { WebhookMade, WebhookOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { AskButton } from "@/shared/ui/confirm-button";
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
                <AskButton
                  label={t("webhooks.secret.new")}
                  named={t("webhooks.secret.new_one", { url: row.url })}
                  ask={t("webhooks.secret.new.ask")}
                  run={() => secret.mutateAsync(row.id).then(onSecret)}
                />
                <AskButton
                  label={t("webhooks.remove")}
                  named={t("webhooks.remove_one", { url: row.url })}
                  ask={t("webhooks.remove.ask", { url: row.url })}
                  run={() => change.mutateAsync({ do: "remove", id: row.id })}
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
