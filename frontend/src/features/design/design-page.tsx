/** Which tasks there should be: applications to choose from, their graph with its tasks and gaps, and the balance of difficulty. */
import { Button, Tabs } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";
import { Link, useSearchParams } from "react-router";

import type { DesignPage as Design } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";
import { Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";
import { DownloadButton } from "@/shared/ui/download-button";

import { cellOf, cellSearch, VIEWS, viewOf, type View } from "./address";
import { designQuery, tasksQuery, useChange, type CellSelection } from "./api";
import { ApplicationsView } from "./applications/applications-view";
import { BalanceView } from "./balance/balance-view";
import { CellDetail } from "./cell-detail";
import styles from "./design.module.css";
import { GapList } from "./gap-list";
import { GraphFile } from "./graph-file";
import { NodeForm } from "./node-form";
import { TreeTable } from "./tree-table";
import { WriterForm } from "./writer-form";

/** No cell: tasks without a place. */
const NOWHERE: CellSelection = { node: null, level: null };

const CONTENTS: Readonly<Record<View, () => ReactNode>> = {
  graph: () => <GraphView />,
  applications: () => <ApplicationsView />,
  balance: () => <BalanceView />,
};

export const prefetch: Prefetch = ({ client, search }) =>
  viewOf(search) === "graph" ? [client.query(designQuery), client.query(tasksQuery(NOWHERE, 0))] : [];

export default function DesignPage() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  const view = viewOf(search);
  return (
    <div className={styles.page}>
      <PagePath crumbs={[{ label: t("design.title") }]} />
      <Tabs value={view} onChange={(next) => setSearch(next === "graph" ? {} : { view: next ?? "graph" })} keepMounted={false}>
        <Tabs.List aria-label={t("design.title")} className={styles.views}>
          {VIEWS.map((each) => (
            <Tabs.Tab key={each} value={each}>
              {t(`design.view.${each}`)}
            </Tabs.Tab>
          ))}
        </Tabs.List>
        <Tabs.Panel value={view}>{CONTENTS[view]()}</Tabs.Panel>
      </Tabs>
    </div>
  );
}

function GraphView() {
  const design = useQuery(designQuery);
  useQuery(tasksQuery(NOWHERE, 0)); // beside the graph, which says where they are shown
  return (
    <>
      {design.isPending && <Loading />}
      {design.isError && !design.data && <ErrorState error={design.error} onRetry={() => void design.refetch()} />}
      {design.data && <Overview design={design.data} />}
    </>
  );
}

function Overview({ design }: { design: Design }) {
  const { t } = useI18n();
  const admin = hasRole(useUser(), "admin");
  const [search, setSearch] = useSearchParams();
  const [selected, setCell] = useState(() => cellOf(search)); // the address follows too late for keys that are pressed fast
  const setSelected = (cell: CellSelection) => {
    setCell(cell);
    setSearch(cellSearch(cell), { replace: true });
  };
  const node = design.nodes.find(({ id }) => id === selected.node) ?? null;
  const selection: CellSelection = node ? selected : NOWHERE;
  return (
    <div className={styles.halves}>
      <div className={styles.half}>
        <Section title={t("design.graph")} aside={<GraphTools admin={admin} design={design} />}>
          {design.nodes.length === 0 ? (
            <Empty title={t("design.none")}>{t("design.none.help")}</Empty>
          ) : (
            <TreeTable design={design} selection={selection} onSelect={setSelected} />
          )}
          {admin && <NodeForm key={node?.id ?? 0} node={node} weights={design.importance_weights} onGone={() => setSelected(NOWHERE)} />}
        </Section>
        {design.gaps.length > 0 && (
          <Section title={t("design.gaps")}>
            <GapList design={design} onSelect={setSelected} />
          </Section>
        )}
      </div>
      <div className={styles.half}>
        <CellDetail key={`${selection.node} ${selection.level}`} design={design} selection={selection} onSelect={setSelected} admin={admin} />
      </div>
    </div>
  );
}

function GraphTools({ admin, design }: { admin: boolean; design: Design }) {
  const { t } = useI18n();
  const derive = useChange();
  return (
    <>
      <Problem error={derive.error} />
      {admin && (
        <>
          <Button
            variant="default"
            size="compact-sm"
            loading={derive.isPending}
            disabled={design.unplaced === 0}
            onClick={() => derive.mutate({ type: "derive" })}
          >
            {t("design.derive")}
          </Button>
          <GraphFile />
          <WriterForm />
        </>
      )}
      <Button component={Link} to="/design/drafts" variant="default" size="compact-sm">
        {t("drafts.title")}
      </Button>
      <DownloadButton href="/api/design/graph.csv" label="CSV" />
    </>
  );
}
