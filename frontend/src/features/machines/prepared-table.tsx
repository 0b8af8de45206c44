/** What doing the first candidate ahead costs: requests to policies that were prepared, by day and pool. */
import { useQuery } from "@tanstack/react-query";

import type { PreparedRequestCost } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { preparedQuery } from "./api";

export function PreparedRequests() {
  const { t } = useI18n();
  const costs = useQuery(preparedQuery);
  if (costs.isPending) return <Loading />;
  if (costs.isError && !costs.data) return <ErrorState error={costs.error} onRetry={() => void costs.refetch()} />;
  if (costs.data.length === 0) return <Empty title={t("machines.prepared.none")} />;
  return <PreparedTable costs={costs.data} />;
}

function PreparedTable({ costs }: { costs: readonly PreparedRequestCost[] }) {
  const { t, number, percent, duration } = useI18n();
  return (
    <DataTable
      rows={costs}
      keyOf={(cost) => `${cost.day} ${cost.pool_id}`}
      label={t("machines.prepared")}
      columns={[
        { header: t("machines.prepared.day"), kind: "name", cell: (cost) => cost.day },
        { header: t("machines.pool"), cell: (cost) => cost.pool },
        { header: t("machines.prepared.made"), kind: "number", cell: (cost) => number(cost.made) },
        {
          header: t("machines.prepared.used"),
          kind: "number",
          cell: (cost) => `${number(cost.used)} (${percent(cost.used / cost.made)})`,
        },
        { header: t("machines.prepared.discarded"), kind: "number", cell: (cost) => number(cost.discarded) },
        {
          header: t("machines.prepared.tokens"),
          help: t("machines.prepared.tokens.help"),
          kind: "number",
          cell: (cost) => tokens(cost.input_tokens, cost.output_tokens, cost),
        },
        {
          header: t("machines.prepared.tokens.discarded"),
          kind: "number",
          cell: (cost) => tokens(cost.discarded_input_tokens, cost.discarded_output_tokens, cost),
        },
        { header: t("machines.prepared.time"), kind: "number", cell: (cost) => duration(cost.seconds * 1_000) },
        {
          header: t("machines.prepared.time.discarded"),
          kind: "number",
          cell: (cost) => duration(cost.discarded_seconds * 1_000),
        },
      ]}
    />
  );

  /** A dash where no server of that day said how many. */
  function tokens(read: number, written: number, { uncounted, made }: PreparedRequestCost) {
    if (uncounted === made) return number(null);
    const counts = { read: number(read), written: number(written) };
    return uncounted === 0 ? t("machines.prepared.tokens.of", counts) : t("machines.prepared.tokens.least", counts);
  }
}
