/** Which programs are told what, and what became of each message; for admins. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { WebhookMade, WebhookOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { webhooksQuery } from "./api";
import { DeliveriesDialog } from "./deliveries-dialog";
import { SecretDialog } from "./secret-dialog";
import { WebhookForm } from "./webhook-form";
import { WebhookTable } from "./webhook-table";

export default function WebhooksPage() {
  const { t } = useI18n();
  const webhooks = useQuery(webhooksQuery);
  const [made, setMade] = useState<WebhookMade | null>(null);
  const [selected, setSelected] = useState<WebhookOut | null>(null);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("webhooks.title") }]} />
      {webhooks.isPending && <Loading />}
      {webhooks.isError && !webhooks.data && <ErrorState error={webhooks.error} onRetry={() => void webhooks.refetch()} />}
      {webhooks.data && (
        <Section title={t("webhooks.title")}>
          {webhooks.data.length === 0 ? (
            <Empty title={t("webhooks.none")}>{t("webhooks.none.help")}</Empty>
          ) : (
            <WebhookTable rows={webhooks.data} onShow={setSelected} onSecret={setMade} />
          )}
        </Section>
      )}
      <Section title={t("webhooks.add")}>
        <WebhookForm onMade={setMade} />
      </Section>
      <SecretDialog made={made} onClose={() => setMade(null)} />
      <DeliveriesDialog webhook={selected} onClose={() => setSelected(null)} />
    </Page>
  );
}
