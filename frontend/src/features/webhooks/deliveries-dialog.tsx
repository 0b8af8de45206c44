/** What became of a webhook's messages. */
import { Button, Table } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";

import type { DeliveryOut, WebhookOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { deliveriesQuery, EVENTS } from "./api";
import styles from "./webhooks.module.css";

export function DeliveriesDialog({ webhook, onClose }: { webhook: WebhookOut | null; onClose: () => void }) {
  const { t } = useI18n();
  return (
    <Dialog opened={webhook !== null} onClose={onClose} size="xl" title={t("webhooks.messages_one", { url: webhook?.url ?? "" })}>
      {webhook && <Deliveries id={webhook.id} />}
    </Dialog>
  );
}

function Deliveries({ id }: { id: number }) {
  const { t } = useI18n();
  const found = useInfiniteQuery(deliveriesQuery(id));
  const rows = found.data?.pages.flatMap(({ items }) => items) ?? [];
  if (found.isPending) return <Loading />;
  if (found.isError && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (rows.length === 0) return <Empty title={t("webhooks.messages.none")} />;
  return (
    <>
      <Table.ScrollContainer minWidth={560}>
        <Table className={styles.table} aria-label={t("webhooks.messages")}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("webhooks.event")}</Table.Th>
              <Table.Th>{t("webhooks.at")}</Table.Th>
              <Table.Th>{t("webhooks.state")}</Table.Th>
              <Table.Th className={styles.number}>{t("webhooks.attempts")}</Table.Th>
              <Table.Th>{t("webhooks.answer")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Row key={row.id} row={row} />
            ))}
          </Table.Tbody>
        </Table>
      </Table.ScrollContainer>
      {found.hasNextPage && (
        <Button variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t("webhooks.more")}
        </Button>
      )}
    </>
  );
}

function Row({ row }: { row: DeliveryOut }) {
  const { t, moment } = useI18n();
  const event = EVENTS.find((known) => known === row.event);
  return (
    <Table.Tr>
      <Table.Td>{event ? t(`webhooks.event.${event}`) : t("webhooks.event.ping")}</Table.Td>
      <Table.Td>{moment(row.created_at)}</Table.Td>
      <Table.Td>
        {t(`webhooks.state.${row.state}`)}
        {row.next_at && row.attempts > 0 && <p className={styles.note}>{t("webhooks.again", { at: moment(row.next_at) })}</p>}
      </Table.Td>
      <Table.Td className={styles.number}>{row.attempts}</Table.Td>
      <Table.Td>
        {row.status ?? ""}
        {row.error && <p className={styles.note}>{row.error}</p>}
      </Table.Td>
    </Table.Tr>
  );
}
