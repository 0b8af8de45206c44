/** Finished trajectories: found by words and conditions, exported as they were found, kept as dataset versions, and brought in from files. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";

import type { ExportOut } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Dialog } from "@/shared/ui/dialog";
import { QueryRows } from "@/shared/ui/tables/query-rows";
import { Page, Section } from "@/shared/ui/page";
import { ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { exportsQuery, poolsQuery, versionsQuery } from "./api";
import { ExportForm } from "./export-form";
import { ExportTable } from "./export-table";
import { FreezeDialog } from "./freeze-dialog";
import { importsQuery, uploadsQuery } from "./imports/api";
import { ImportsSection } from "./imports/section";
import { facetsQuery, resultsQuery, savedQueriesQuery } from "./search/api";
import { SearchSections } from "./search/search-sections";
import { VersionTable } from "./version-table";

export const prefetch: Prefetch = ({ client, search, user }) => [
  client.query(resultsQuery(search)),
  client.query(poolsQuery),
  client.query(savedQueriesQuery),
  ...(hasRole(user, "researcher")
    ? [client.query(exportsQuery), client.query(versionsQuery), client.query(importsQuery), client.query(uploadsQuery)]
    : []),
];

export default function ExportsPage() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  const [exporting, setExporting] = useState(false);
  const exports = hasRole(useUser(), "researcher");
  return (
    <Page>
      <PagePath crumbs={[{ label: t(exports ? "exports.page" : "trajectories.title") }]} />
      <SearchSections
        search={search}
        onSearch={setSearch}
        aside={(total) =>
          exports && (
            <Button disabled={total === 0} onClick={() => setExporting(true)}>
              {t("exports.these")}
            </Button>
          )
        }
      />
      {exports && <Files />}
      <Dialog opened={exporting} onClose={() => setExporting(false)} title={t("exports.these")} size="lg">
        <ExportPanel search={search} onDone={() => setExporting(false)} />
      </Dialog>
    </Page>
  );
}

/** The form, once it is known how what was found divides. */
function ExportPanel({ search, onDone }: { search: URLSearchParams; onDone: () => void }) {
  const facets = useQuery(facetsQuery(search));
  if (facets.isError) return <ErrorState error={facets.error} onRetry={() => void facets.refetch()} />;
  return facets.data ? <ExportForm search={search} found={facets.data} onDone={onDone} /> : <Loading />;
}

/** What was exported, frozen and imported. */
function Files() {
  const { t } = useI18n();
  const exports = useQuery(exportsQuery);
  const versions = useQuery(versionsQuery);
  const [freezing, setFreezing] = useState<ExportOut | null>(null);
  const frozen = new Set((versions.data ?? []).map(({ export_id }) => export_id));
  return (
    <>
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
    </>
  );
}
