/** Trajectories of other platforms in from files. */
import { useQuery } from "@tanstack/react-query";

import { useI18n } from "@/shared/i18n/i18n";
import { QueryRows } from "@/shared/ui/tables/query-rows";
import { Section } from "@/shared/ui/page";

import { ImportForm } from "./import-form";
import { ImportTable } from "./import-table";
import { importsQuery } from "./api";

export function ImportsSection() {
  const { t } = useI18n();
  const imports = useQuery(importsQuery);
  return (
    <Section title={t("imports.title")}>
      <ImportForm />
      <QueryRows query={imports} none={t("imports.none")} help={t("imports.none.help")}>
        {(rows) => <ImportTable imports={rows} />}
      </QueryRows>
    </Section>
  );
}
