/** Task drafts: written by hand or asked of a model, looked through by node, and sent to pools. */
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { useSearchParams } from "react-router";

import type { DraftsOverview } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { draftsQuery, overviewQuery } from "./api";
import { DraftForm } from "./draft-form";
import { DraftList } from "./draft-list";
import styles from "./drafts.module.css";
import { AUTHORS, EXPERTISES, fromSearch, SCOPES, STATES, toSearch, type DraftView } from "./filters";
import { RequestForm } from "./request-form";
import { RequestState } from "./request-state";

export default function DraftsPage() {
  const { t } = useI18n();
  const overview = useQuery(overviewQuery);
  return (
    <Page>
      <PagePath crumbs={[{ label: t("design.title"), to: "/design" }, { label: t("drafts.title") }]} />
      {overview.isPending && <Loading />}
      {overview.isError && !overview.data && <ErrorState error={overview.error} onRetry={() => void overview.refetch()} />}
      {overview.data && <Drafts overview={overview.data} />}
    </Page>
  );
}

function Drafts({ overview }: { overview: DraftsOverview }) {
  const { t } = useI18n();
  const admin = hasRole(useUser(), "admin");
  const [search, setSearch] = useSearchParams();
  const view = fromSearch(search, overview.nodes);
  if (!view) return <Empty title={t("drafts.no_graph")}>{t("drafts.no_graph.help")}</Empty>;
  return (
    <Section
      title={t("drafts.title")}
      aside={
        admin && (
          <>
            <RequestForm key={`ask ${view.node}`} node={view.node} overview={overview} />
            <DraftForm key={view.node} node={view.node} overview={overview} />
          </>
        )
      }
    >
      <Filters overview={overview} view={view} onChange={(change) => setSearch(toSearch({ ...view, ...change }), { replace: true })} />
      <Results key={toSearch(view).toString()} overview={overview} view={view} admin={admin} />
    </Section>
  );
}

type ResultsProps = { readonly overview: DraftsOverview; readonly view: DraftView; readonly admin: boolean };

function Results({ overview, view, admin }: ResultsProps) {
  const { t } = useI18n();
  const [after, setAfter] = useState(0);
  const drafts = useQuery(draftsQuery(view, after));
  if (drafts.isPending) return <Loading />;
  if (!drafts.data) return <ErrorState error={drafts.error} onRetry={() => void drafts.refetch()} />;
  const { request, items } = drafts.data;
  return (
    <>
      {request && <RequestState request={request} admin={admin} />}
      {items.length === 0 ? (
        <Empty title={t("drafts.none")}>{admin && t("drafts.none.help")}</Empty>
      ) : (
        <DraftList key={after} page={drafts.data} overview={overview} after={after} onPage={setAfter} admin={admin} />
      )}
    </>
  );
}

type FiltersProps = {
  readonly overview: DraftsOverview;
  readonly view: DraftView;
  readonly onChange: (change: Partial<DraftView>) => void;
};

function Filters({ overview, view, onChange }: FiltersProps) {
  const { t } = useI18n();
  const nodes = overview.nodes.map(({ id, path, waiting }) => ({
    value: String(id),
    label: waiting > 0 ? t("drafts.node.waiting", { path: path.join(" / "), count: waiting }) : path.join(" / "),
  }));
  return (
    <div className={styles.filters} role="group" aria-label={t("drafts.filters")}>
      <Select
        label={t("drafts.node")}
        searchable
        allowDeselect={false}
        w={260}
        data={nodes}
        value={String(view.node)}
        onChange={(node) => node && onChange({ node: Number(node) })}
      />
      <Choice
        label={t("drafts.filter.state")}
        options={STATES.map((value) => ({ value, label: t(`drafts.state.${value}`) }))}
        value={view.state}
        onChange={(state) => onChange({ state })}
      />
      <Choice
        label={t("drafts.filter.expertise")}
        options={EXPERTISES.map((value) => ({ value, label: t(`drafts.expertise.${value}`) }))}
        value={view.expertise}
        onChange={(expertise) => onChange({ expertise })}
      />
      <Choice
        label={t("drafts.filter.scope")}
        options={SCOPES.map((value) => ({ value, label: t(`drafts.scope.${value}`) }))}
        value={view.scope}
        onChange={(scope) => onChange({ scope })}
      />
      <Choice
        label={t("drafts.filter.written_by")}
        options={AUTHORS.map((value) => ({ value, label: t(`drafts.written_by.${value}`) }))}
        value={view.written_by}
        onChange={(author) => onChange({ written_by: author })}
      />
    </div>
  );
}

type ChoiceProps<Value extends string> = {
  readonly label: string;
  readonly options: readonly { readonly value: Value; readonly label: string }[];
  readonly value: Value | null;
  readonly onChange: (value: Value | null) => void;
};

function Choice<Value extends string>({ label, options, value, onChange }: ChoiceProps<Value>) {
  const { t } = useI18n();
  return (
    <Select
      label={label}
      placeholder={t("drafts.filter.any")}
      clearable
      w={150}
      data={options}
      value={value}
      onChange={(chosen) => onChange(options.find((option) => option.value === chosen)?.value ?? null)}
    />
  );
}
