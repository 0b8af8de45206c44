/** The review queue: what waits, oldest first, narrowed by the address; Enter begins. */
import { Button, Checkbox, Select, Switch } from "@mantine/core";
import { notifications } from "@mantine/notifications";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link, useNavigate, useSearchParams } from "react-router";

import type { Prefetch } from "@/shared/api/prefetch";
import { BatchButton } from "@/shared/session-batches/batch-button";
import type { QueueItem, ReviewQueue } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useCommands } from "@/shared/commands/commands";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge, disagree, OutcomeBadge, VerdictBadge } from "@/shared/ui/badge";
import { CommandKey } from "@/shared/ui/key-hint";
import { DataTable, type Column } from "@/shared/ui/tables/data-table";
import { Page, Section } from "@/shared/ui/page";
import { PersonSelect } from "@/shared/ui/person-select";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { poolsQuery, queueQuery, useNext } from "./api";
import { reviewCommands } from "./commands";
import { fromSearch, OUTCOMES, reviewOf, sessionFilters, toSearch, type Filters } from "./filters";
import styles from "./review.module.css";

export const prefetch: Prefetch = ({ client, search }) => [client.query(queueQuery(fromSearch(search))), client.query(poolsQuery)];

export default function ReviewQueuePage() {
  const { t } = useI18n();
  const navigate = useNavigate();
  const [search, setSearch] = useSearchParams();
  const filters = fromSearch(search);
  const queue = useQuery(queueQuery(filters));
  const next = useNext();
  const reviews = hasRole(useUser(), "reviewer");
  const change = (patch: Partial<Filters>) => setSearch(toSearch({ ...filters, after: null, ...patch }), { replace: true });
  const begin = () =>
    next.mutate(
      { filters },
      {
        onSuccess: (episode) => {
          if (episode) void navigate(reviewOf(episode.id, filters));
          else notifications.show({ message: t("review.none_left") });
        },
      },
    );
  useCommands([{ command: reviewCommands.next, enabled: reviews && !next.isPending, run: begin }]);

  return (
    <Page>
      <PagePath crumbs={[{ label: t("reviews.title") }]} />
      <Section
        title={queue.data ? t(queue.data.capped ? "reviews.count.more" : "reviews.count", { count: queue.data.total }) : t("reviews.title")}
        aside={
          reviews && (
            <Button onClick={begin} loading={next.isPending} disabled={queue.data?.total === 0} rightSection={<CommandKey command={reviewCommands.next} />}>
              {t("reviews.start")}
            </Button>
          )
        }
      >
        <FilterBar filters={filters} change={change} />
        <Problem error={next.error} />
        {queue.isPending && <Loading />}
        {queue.isError && <ErrorState error={queue.error} onRetry={() => void queue.refetch()} />}
        {queue.data && <Waiting queue={queue.data} filters={filters} onNext={(after) => change({ after })} />}
      </Section>
    </Page>
  );
}

type WaitingProps = { queue: ReviewQueue; filters: Filters; onNext: (after: string) => void };

function Waiting({ queue: { items, next }, filters, onNext }: WaitingProps) {
  const { t } = useI18n();
  const [chosen, setChosen] = useState<readonly string[]>([]);
  const recorded = items.some((item) => item.recorded);
  if (items.length === 0) return <Empty title={t("reviews.none")}>{t("reviews.none.help")}</Empty>;
  return (
    <>
      {recorded && (
        <div className={styles.bar}>
          <BatchButton chosen={chosen} filters={sessionFilters(filters)} all={t("speech.batch.all")} />
        </div>
      )}
      <QueueTable items={items} filters={filters} chosen={chosen} onChoose={recorded ? setChosen : null} />
      {next && (
        <div className={styles.bar}>
          <Button variant="default" onClick={() => onNext(next)}>
            {t("common.next_page")}
          </Button>
        </div>
      )}
    </>
  );
}

function FilterBar({ filters, change }: { filters: Filters; change: (patch: Partial<Filters>) => void }) {
  const { t } = useI18n();
  const pools = useQuery(poolsQuery).data ?? [];
  return (
    <div className={styles.bar}>
      <Select
        aria-label={t("episodes.pool")}
        placeholder={t("episodes.any_pool")}
        clearable
        w={190}
        data={pools.map((pool) => ({ value: String(pool.id), label: pool.name }))}
        value={filters.pool}
        onChange={(pool) => change({ pool })}
      />
      <Select
        aria-label={t("episodes.outcome")}
        placeholder={t("episodes.outcome")}
        clearable
        w={150}
        data={OUTCOMES.map((outcome) => ({ value: outcome, label: t(`outcome.${outcome}`) }))}
        value={filters.outcome}
        onChange={(outcome) => change({ outcome: OUTCOMES.find((known) => known === outcome) ?? null })}
      />
      <PersonSelect
        aria-label={t("episodes.annotator")}
        placeholder={t("episodes.annotator")}
        w={150}
        value={filters.annotator}
        onChange={(annotator) => change({ annotator })}
      />
      <Switch label={t("reviews.returned_only")} checked={filters.returned} onChange={(event) => change({ returned: event.currentTarget.checked })} />
    </div>
  );
}

type QueueTableProps = {
  items: readonly QueueItem[];
  filters: Filters;
  chosen: readonly string[];
  /** Null where no session is recorded. */
  onChoose: ((chosen: readonly string[]) => void) | null;
};

function QueueTable({ items, filters, chosen, onChoose }: QueueTableProps) {
  const { t, relative } = useI18n();
  const toggle = (id: string) => onChoose?.(chosen.includes(id) ? chosen.filter((one) => one !== id) : [...chosen, id]);
  const choice: Column<QueueItem> = {
    header: t("speech.batch.open"),
    kind: "mark",
    cell: ({ episode, recorded }) =>
      recorded && (
        <Checkbox aria-label={t("speech.batch.select", { name: episode.instruction })} checked={chosen.includes(episode.id)} onChange={() => toggle(episode.id)} />
      ),
  };
  return (
    <DataTable
      rows={items}
      keyOf={({ episode }) => episode.id}
      columns={[
        ...(onChoose ? [choice] : []),
        {
          header: t("episodes.task"),
          kind: "name",
          cell: ({ episode, round, adjudication }) => (
            <>
              <Link className={styles.instruction} to={reviewOf(episode.id, filters)}>
                {episode.instruction}
              </Link>
              <div className={styles.note}>
                {episode.pool} {round > 1 && <Badge tone="warn">{t("review.round", { number: round })}</Badge>}{" "}
                {adjudication && <Badge tone="warn">{t("reviews.adjudication")}</Badge>}
              </div>
            </>
          ),
        },
        { header: t("episodes.annotator"), cell: ({ episode }) => episode.annotator_name },
        { header: t("episodes.outcome"), cell: ({ episode }) => <OutcomeBadge outcome={episode.outcome} /> },
        {
          header: t("episodes.verdict"),
          cell: ({ episode }) => (
            <>
              <VerdictBadge verdict={episode.verdict} />{" "}
              {disagree(episode.outcome, episode.verdict) && <Badge tone="warn">{t("verdict.disagrees.short")}</Badge>}
            </>
          ),
        },
        { header: t("episodes.steps"), kind: "number", cell: ({ episode }) => episode.steps },
        {
          header: t("reviews.waiting"),
          kind: "number",
          cell: ({ episode }) => episode.finished_at && relative(episode.finished_at),
        },
        { header: t("reviews.claim"), cell: ({ claim }) => claim && (claim.mine ? t("reviews.you") : claim.reviewer) },
      ]}
    />
  );
}
