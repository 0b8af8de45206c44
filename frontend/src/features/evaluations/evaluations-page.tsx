/** All evaluations: reports on registered revisions and finished benchmark runs, and the way to compare two. */
import { Anchor, Button, Checkbox } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate } from "react-router";

import type { EvaluationPage, EvaluationRow } from "@/generated/api";
import type { Prefetch } from "@/shared/api/prefetch";
import { dollars } from "@/shared/i18n/dollars";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { DataTable } from "@/shared/ui/tables/data-table";
import { RateText } from "@/shared/ui/tables/rate";
import { PagePath } from "@/shared/ui/top-bar";

import { evaluationsQuery, pathOf } from "./api";
import { policyNames } from "./policy-label";
import { unfinishedQuery } from "./runs/api";
import { RunTable } from "./runs/run-table";
import { StartButton } from "./runs/start-dialog";
import styles from "./evaluations.module.css";

export const prefetch: Prefetch = ({ client }) => [client.query(evaluationsQuery), client.query(unfinishedQuery)];

export default function EvaluationsPage() {
  const { t } = useI18n();
  const evaluations = useQuery(evaluationsQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("evaluations.title") }]} />
      {evaluations.isPending && <Loading />}
      {evaluations.isError && !evaluations.data && <ErrorState error={evaluations.error} onRetry={() => void evaluations.refetch()} />}
      <Unfinished />
      {evaluations.data && <Overview page={evaluations.data} />}
    </Page>
  );
}

/** Evaluations that wait, run, or were interrupted. */
function Unfinished() {
  const { t } = useI18n();
  const runs = useQuery(unfinishedQuery).data?.runs ?? [];
  if (runs.length === 0) return null;
  return (
    <Section title={t("evaluations.unfinished")}>
      <RunTable runs={runs} />
    </Section>
  );
}

function Overview({ page: { items, unreadable } }: { page: EvaluationPage }) {
  const { t } = useI18n();
  const navigate = useNavigate();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  // The list is newest first: of two, the later in it is the earlier one.
  const [after, before] = items.filter(({ id }) => chosen.includes(id));
  return (
    <Section
      title={t("evaluations.title")}
      aside={
        <>
          <Button
            size="xs"
            variant="default"
            disabled={!after || !before}
            onClick={() => after && before && void navigate(`${pathOf(after.id)}?${new URLSearchParams({ against: before.id }).toString()}`)}
          >
            {t("evaluations.compare_chosen")}
          </Button>
          <StartButton />
        </>
      }
    >
      {items.length === 0 ? (
        <Empty title={t("evaluations.none")}>{t("evaluations.none.help")}</Empty>
      ) : (
        <EvaluationTable
          rows={items}
          chosen={chosen}
          onToggle={(id) => setChosen((old) => (old.includes(id) ? old.filter((each) => each !== id) : [...old, id].slice(-2)))}
        />
      )}
      {unreadable.length > 0 && <p className={styles.failed}>{t("evaluations.unreadable", { names: unreadable.join(", ") })}</p>}
    </Section>
  );
}

type TableProps = { readonly rows: readonly EvaluationRow[]; readonly chosen: readonly string[]; readonly onToggle: (id: string) => void };

function EvaluationTable({ rows, chosen, onToggle }: TableProps) {
  const { t, language, moment, number, percent } = useI18n();
  return (
    <DataTable
      rows={rows}
      keyOf={({ id }) => id}
      columns={[
        {
          header: t("evaluations.choose"),
          kind: "mark",
          cell: (row) => (
            <Checkbox
              aria-label={t("evaluations.choose_one", { name: policyNames(row, t), what: row.name })}
              checked={chosen.includes(row.id)}
              onChange={() => onToggle(row.id)}
            />
          ),
        },
        {
          header: t("evaluations.policy"),
          kind: "name",
          cell: (row) => (
            <>
              <Anchor component={Link} to={pathOf(row.id)} className={styles.name}>
                {policyNames(row, t)}
              </Anchor>
              <div className={styles.quiet}>{row.name}</div>
            </>
          ),
        },
        {
          header: t("evaluations.source"),
          cell: ({ source }) => <Badge tone={source === "report" ? "ok" : "neutral"}>{t(`evaluations.source.${source}`)}</Badge>,
        },
        { header: t("evaluations.success"), kind: "number", cell: ({ successes }) => <RateText rate={successes} /> },
        {
          header: t("evaluations.pass_at"),
          help: t("evaluations.pass_at.help"),
          kind: "number",
          cell: ({ pass_at }) => (pass_at === null ? "–" : t("evaluations.pass_at.value", { rate: percent(pass_at.rate), k: pass_at.k })),
        },
        { header: t("evaluations.steps"), kind: "number", cell: ({ steps }) => number(steps, 1) },
        { header: t("evaluations.cost"), kind: "number", cell: ({ cost_usd }) => (cost_usd === null ? "–" : dollars(cost_usd, language)) },
        { header: t("evaluations.at"), cell: ({ created_at }) => moment(created_at) },
      ]}
    />
  );
}
