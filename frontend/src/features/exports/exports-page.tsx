/** Trajectories out to files: choose which, watch it being written, download it. */
import { useQuery } from "@tanstack/react-query";
import { Link } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { exportsQuery } from "./api";
import { ExportForm } from "./export-form";
import { ExportTable } from "./export-table";

export default function ExportsPage() {
  const { t } = useI18n();
  const exports = useQuery(exportsQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("exports.title") }]} />
      <Section title={t("exports.new")} aside={<Link to="/trajectories">{t("trajectories.title")}</Link>}>
        <ExportForm />
      </Section>
      <Section title={t("exports.title")}>
        {exports.isPending && <Loading />}
        {exports.isError && <ErrorState error={exports.error} onRetry={() => void exports.refetch()} />}
        {exports.data?.length === 0 && <Empty title={t("exports.none")}>{t("exports.none.help")}</Empty>}
        {exports.data && exports.data.length > 0 && <ExportTable exports={exports.data} />}
      </Section>
    </Page>
  );
}
