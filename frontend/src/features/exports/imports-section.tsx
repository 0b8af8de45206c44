/** Trajectories of other platforms in from files. */
import { useQuery } from "@tanstack/react-query";

import { useI18n } from "@/shared/i18n/i18n";
import { Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { ImportForm } from "./import-form";
import { ImportTable } from "./import-table";
import { importsQuery } from "./imports-api";

export function ImportsSection() {
  const { t } = useI18n();
  const imports = useQuery(importsQuery);
  return (
    <Section title={t("imports.title")}>
      <ImportForm />
      {imports.isPending && <Loading />}
      {imports.isError && <ErrorState error={imports.error} onRetry={() => void imports.refetch()} />}
      {imports.data?.length === 0 && <Empty title={t("imports.none")}>{t("imports.none.help")}</Empty>}
      {imports.data && imports.data.length > 0 && <ImportTable imports={imports.data} />}
    </Section>
  );
}
