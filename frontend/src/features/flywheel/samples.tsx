/** The samples of a cycle by route, each with its value, the source of the value, and the reason. */
import { Anchor, Button, SegmentedControl } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import type { RouteCounts, SampleOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { ROUTES, samplesQuery, type RouteName } from "./api";
import styles from "./flywheel.module.css";

export function Samples({ cycle, routes }: { cycle: string; routes: RouteCounts }) {
  const { t } = useI18n();
  const [route, setRoute] = useState<RouteName>("sft");
  return (
    <>
      <div className={styles.note}>
        <SegmentedControl
          size="xs"
          aria-label={t("flywheel.route")}
          value={route}
          onChange={setRoute}
          data={ROUTES.map((value) => ({ value, label: `${t(`flywheel.route.${value}`)} ${routes[value]}` }))}
        />
      </div>
      <RouteSamples cycle={cycle} route={route} />
    </>
  );
}

function RouteSamples({ cycle, route }: { cycle: string; route: RouteName }) {
  const { t } = useI18n();
  const pages = useInfiniteQuery(samplesQuery(cycle, route));
  if (pages.isPending) return <Loading />;
  if (pages.isError) return <ErrorState error={pages.error} onRetry={() => void pages.refetch()} />;
  const samples = pages.data.pages.flatMap(({ items }) => items);
  if (samples.length === 0) return <Empty title={t("flywheel.no_samples")} />;
  return (
    <>
      <SampleTable samples={samples} />
      {pages.hasNextPage && (
        <Button variant="default" size="compact-sm" loading={pages.isFetchingNextPage} onClick={() => void pages.fetchNextPage()}>
          {t("flywheel.more")}
        </Button>
      )}
    </>
  );
}

export function SampleTable({ samples }: { samples: readonly SampleOut[] }) {
  const { t, number } = useI18n();
  return (
    <DataTable
      rows={samples}
      keyOf={({ id }) => id}
      columns={[
        {
          header: t("flywheel.trajectory"),
          kind: "name",
          cell: ({ episode }) => (
            <Anchor component={Link} to={`/episodes/${episode}`}>
              {episode.slice(0, 8)}
            </Anchor>
          ),
        },
        { header: t("flywheel.value"), kind: "number", cell: ({ value }) => number(value, 2) },
        { header: t("flywheel.value_source"), cell: (sample) => <ValueSource sample={sample} /> },
        {
          header: t("flywheel.executable"),
          cell: ({ executable }) => (executable === null ? t("flywheel.not_tried") : t(executable ? "flywheel.yes" : "flywheel.no")),
        },
        { header: t("flywheel.reason"), cell: ({ reason }) => (reason === null ? "–" : t(`flywheel.reason.${reason}`)) },
      ]}
    />
  );
}

function ValueSource({ sample: { valued_by, contested } }: { sample: SampleOut }) {
  const { t } = useI18n();
  const by = (["review", "verifier", "outcome", "judge", "nobody"] as const).find((one) => one === valued_by);
  return (
    <>
      {by ? t(`flywheel.value_source.${by}`) : "–"} {contested && <Badge tone="warn">{t("flywheel.contested")}</Badge>}
    </>
  );
}
