/** Trajectories out to files, and in from them: choose which, watch it being written, download it, keep it as a dataset version. */
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import type { ExportOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { QueryRows } from "@/shared/ui/tables/query-rows";
import { Page, Section } from "@/shared/ui/page";
import { PagePath } from "@/shared/ui/top-bar";

import { exportsQuery, versionsQuery } from "./api";
import { ExportForm } from "./export-form";
import { ExportTable } from "./export-table";
import { FreezeDialog } from "./freeze-dialog";
import { ImportsSection } from "@/features/exports/imports/section";
import { VersionTable } from "./version-table";

export default function ExportsPage() {
  const { t } = useI18n();
  const exports = useQuery(exportsQuery);
  const versions = useQuery(versionsQuery);
  const [freezing, setFreezing] = useState<ExportOut | null>(null);
  const frozen = new Set((versions.data ?? []).map(({ export_id }) => export_id));
  return (
    <Page>
      <PagePath crumbs={[{ label: t("exports.title") }]} />
      <Section title={t("exports.new")} aside={<Link to="/trajectories">{t("trajectories.title")}</Link>}>
        <ExportForm />
      </Section>
      <Section title={t("exports.title")}>
        <QueryRows query={exports} none={t("exports.none")} help={t("exports.none.help")}>
          {(rows) => <ExportTable exports={rows} frozen={frozen} onFreeze={setFreezing} />}
        </QueryRows>
      </Section>
      <Section title={t("versions.title")}>
        <QueryRows query={versions} none={t("versions.none")} help={t("versions.none.help")}>
          {(rows) => <VersionTable versions={rows} />}
        </QueryRows>
      </Section>
      <ImportsSection />
      {freezing && <FreezeDialog item={freezing} onClose={() => setFreezing(null)} />}
    </Page>
  );
}
