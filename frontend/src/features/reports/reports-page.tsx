/** What the work adds up to: figures of some days, day by day, row by row, and what waits now. */
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";

import type { Report } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";
import { DownloadButton } from "@/shared/ui/download-button";

import { reportQuery, tableAddress } from "./api";
import { DayChart } from "./day-chart";
import { FilterBar } from "./filter-bar";
import { fromSearch, narrowTo, toSearch, type Filters } from "./filters";
import { LatencyTable, MachineTable, QueueAgeTable } from "./other-tables";
import { ReportTable } from "./report-table";
import { Tiles } from "./tiles";

export default function ReportsPage() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  // oxlint-disable-next-line react/purity -- a page that is left open goes on to the next day
  const today = new Date();
  const filters = fromSearch(search, today);
  const report = useQuery(reportQuery(filters));
  const change = (next: Filters) => setSearch(toSearch(next, today));
  return (
    <Page>
      <PagePath crumbs={[{ label: t("reports.title") }]} />
      <FilterBar filters={filters} change={change} today={today} />
      {report.isPending && <Loading />}
      {report.isError && <ErrorState error={report.error} onRetry={() => void report.refetch()} />}
      {report.data && <ReportSections report={report.data} filters={filters} change={change} />}
    </Page>
  );
}

type ReportSectionsProps = { readonly report: Report; readonly filters: Filters; readonly change: (next: Filters) => void };

function ReportSections({ report, filters, change }: ReportSectionsProps) {
  const { t } = useI18n();
  return (
    <>
      <Section title={t("reports.total")}>
        <Tiles figures={report.total} />
        {report.days.length > 1 && <DayChart days={report.days} />}
      </Section>
      <Section title={t(`reports.by.${filters.by}`)} aside={report.rows.length > 0 && <DownloadButton href={tableAddress(filters)} label={t("reports.csv")} />}>
        {report.rows.length === 0 ? (
          <Empty title={t("reports.none")}>{t("reports.none.help")}</Empty>
        ) : (
          <ReportTable by={filters.by} rows={report.rows} onChoose={(key) => change(narrowTo(filters, key))} />
        )}
      </Section>
      <Section title={t("reports.queues")}>
        <QueueAgeTable queues={report.queues} />
      </Section>
      <Section title={t("reports.latencies")}>
        <LatencyTable latencies={report.latencies} />
      </Section>
      <Section title={t("reports.machines")}>
        <MachineTable machines={report.machines} />
      </Section>
    </>
  );
}
