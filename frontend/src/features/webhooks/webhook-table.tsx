/** The webhooks there are, and what can be done with each. */
import { Button, Switch, Table } from "@mantine/core";
import { useState } from "react";

import type { WebhookMade, WebhookOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
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
      <Table.ScrollContainer minWidth={720}>
        <Table className={styles.table} aria-label={t("webhooks.title")}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("webhooks.url")}</Table.Th>
              <Table.Th>{t("webhooks.events")}</Table.Th>
              <Table.Th>{t("webhooks.on")}</Table.Th>
              <Table.Th className={styles.number}>{t("webhooks.pending")}</Table.Th>
              <Table.Th className={styles.number}>{t("webhooks.refusals")}</Table.Th>
              <Table.Th className={styles.actions}>{t("webhooks.actions")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td className={styles.url}>{row.url}</Table.Td>
                <Table.Td>{row.events.map((event) => t(`webhooks.event.${event}`)).join(", ")}</Table.Td>
                <Table.Td>
                  <Switch
                    aria-label={t("webhooks.on_one", { url: row.url })}
                    checked={row.enabled}
                    disabled={change.isPending}
                    onChange={(event) => change.mutate({ do: "enable", id: row.id, enabled: event.currentTarget.checked })}
                  />
                </Table.Td>
                <Table.Td className={styles.number}>{row.pending}</Table.Td>
                <Table.Td className={styles.number}>{row.refusals}</Table.Td>
                <Table.Td className={styles.actions}>
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
                </Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
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
