/** What became of a webhook's messages. */
import { Button } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";

import type { WebhookOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";
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
  const { t, moment } = useI18n();
  const found = useInfiniteQuery(deliveriesQuery(id));
  const rows = found.data?.pages.flatMap(({ items }) => items) ?? [];
  if (found.isPending) return <Loading />;
  if (found.isError && !found.data) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  if (rows.length === 0) return <Empty title={t("webhooks.messages.none")} />;
  return (
    <>
      <DataTable
        label={t("webhooks.messages")}
        rows={rows}
        keyOf={(row) => row.id}
        columns={[
          { header: t("webhooks.event"), kind: "name", cell: (row) => t(`webhooks.event.${EVENTS.find((known) => known === row.event) ?? "ping"}`) },
          { header: t("webhooks.at"), cell: (row) => moment(row.created_at) },
          {
            header: t("webhooks.state"),
            cell: (row) => (
              <>
                {t(`webhooks.state.${row.state}`)}
                {row.next_at && row.attempts > 0 && <p className={styles.note}>{t("webhooks.again", { at: moment(row.next_at) })}</p>}
              </>
            ),
          },
          { header: t("webhooks.attempts"), kind: "number", cell: (row) => row.attempts },
          {
            header: t("webhooks.answer"),
            cell: (row) => (
              <>
                {row.status ?? ""}
                {row.error && <p className={styles.note}>{row.error}</p>}
              </>
            ),
          },
        ]}
      />
      {found.hasNextPage && (
        <Button variant="default" loading={found.isFetchingNextPage} onClick={() => void found.fetchNextPage()}>
          {t("webhooks.more")}
        </Button>
      )}
    </>
  );
}
