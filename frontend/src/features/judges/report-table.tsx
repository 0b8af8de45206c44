/** Evaluations in which a judge decided how some attempts ended. */
import { Anchor } from "@mantine/core";
import { Link } from "react-router";

import type { ScoredReport } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";

export function ReportTable({ reports }: { reports: readonly ScoredReport[] }) {
  const { t, moment } = useI18n();
  return (
    <DataTable
      rows={reports}
      keyOf={({ id }) => id}
      columns={[
        {
          header: t("judges.evaluation"),
          kind: "name",
          cell: ({ id, policy }) => (
            <Anchor component={Link} to={`/evaluations/${id}`}>
              {policy}
            </Anchor>
          ),
        },
        { header: t("judges.judge"), cell: ({ judge }) => judge },
        { header: t("judges.scored"), kind: "number", cell: ({ judged, attempts }) => t("judges.of", { count: judged, all: attempts }) },
        { header: t("judges.evaluated_at"), cell: ({ created_at }) => moment(created_at) },
      ]}
    />
  );
}
