/** How long what nobody needs any more is kept: the rules, what each would delete, and what it has deleted. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { RetentionPage as Retention, RuleOut } from "@/generated/api";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { retentionQuery } from "./api";
import { RuleForm } from "./rule-form";
import { RuleTable } from "./rule-table";
import { SwitchDialog } from "./switch-dialog";

export const prefetch: Prefetch = ({ client }) => [client.query(retentionQuery)];

export default function RetentionPage() {
  const { t } = useI18n();
  const retention = useQuery(retentionQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("retention.title") }]} />
      {retention.isPending && <Loading />}
      {retention.isError && !retention.data && (
        <ErrorState error={retention.error} onRetry={() => void retention.refetch()} />
      )}
      {retention.data && <Overview page={retention.data} />}
    </Page>
  );
}

function Overview({ page }: { page: Retention }) {
  const { t } = useI18n();
  const [switching, setSwitching] = useState<RuleOut | null>(null);
  return (
    <>
      <Section title={t("retention.title")}>
        {page.rules.length === 0 ? (
          <Empty title={t("retention.none")}>{t("retention.none.help")}</Empty>
        ) : (
          <RuleTable rules={page.rules} onSwitchOn={setSwitching} />
        )}
      </Section>
      <Section title={t("retention.making")}>
        <RuleForm page={page} />
      </Section>
      <SwitchDialog rule={switching} onClose={() => setSwitching(null)} />
    </>
  );
}
