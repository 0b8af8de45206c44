/** Who is here and what they may do; invitations, groups, and the log of who did what. */
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { PagePath } from "@/shared/ui/top-bar";

import { auditQuery, groupsQuery, invitationsQuery, peopleQuery } from "./api";
import { fromSearch } from "./audit-filters";
import { AuditLog } from "./audit-log";
import { Groups } from "./groups";
import { Invitations } from "./invitations";
import { PersonTable } from "./person-table";

export const prefetch: Prefetch = ({ client, search }) => [
  client.infiniteQuery(peopleQuery("", null)),
  client.query(invitationsQuery),
  client.query(groupsQuery),
  client.infiniteQuery(auditQuery(fromSearch(search))),
];

export default function PeoplePage() {
  const { t } = useI18n();
  return (
    <Page>
      <PagePath crumbs={[{ label: t("people.title") }]} />
      <Section title={t("people.title")}>
        <PersonTable />
      </Section>
      <Section title={t("invite.title")}>
        <Invitations />
      </Section>
      <Section title={t("groups.title")}>
        <Groups />
      </Section>
      <Section title={t("audit.title")}>
        <AuditLog />
      </Section>
    </Page>
  );
}
