/** A person's own ways in: second factor, browsers, tokens of programs. */
import { useQuery } from "@tanstack/react-query";

import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { Browsers } from "./browsers";
import { securityQuery } from "./api";
import { Password } from "./password";
import { SecondFactor } from "./second-factor";
import { Tokens } from "./tokens";

export default function SecurityPage() {
  const { t } = useI18n();
  const security = useQuery(securityQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("security.title") }]} />
      {security.isPending && <Loading />}
      {security.isError && <ErrorState error={security.error} onRetry={() => void security.refetch()} />}
      {security.data && (
        <>
          <Section title={t("session.password")}>
            <Password exists={security.data.password} />
          </Section>
          <Section title={t("security.factor")}>
            <SecondFactor security={security.data} />
          </Section>
          <Section title={t("security.browsers")}>
            <Browsers rows={security.data.sign_ins} />
          </Section>
          <Section title={t("security.tokens")}>
            <Tokens rows={security.data.tokens} />
          </Section>
        </>
      )}
    </Page>
  );
}
