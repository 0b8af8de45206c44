/** Two policies at the tasks both were given: how many each did, and every one to be opened side by side. */
import { Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";

import type { Attempt, SharedTask, SharedTasks } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { OutcomeBadge, VerdictBadge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { sharedTasksQuery } from "./api";
import { isSuccessful, countTally, TALLY } from "./tally";
import styles from "./review.module.css";

const SIDES = ["left", "right"] as const;

export function SharedTaskComparison() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  const [left, right] = SIDES.map((side) => search.get(side));
  const found = useQuery(sharedTasksQuery(left ?? null, right ?? null));
  const choose = (side: (typeof SIDES)[number], value: string | null) => {
    const next = new URLSearchParams(search);
    if (value) next.set(side, value);
    else next.delete(side);
    setSearch(next, { replace: true });
  };
  const offered = [...new Set([...(found.data?.revisions ?? []), ...[left, right].filter((name) => name != null)])];
  return (
    <Page>
      <Section title={t("shared_tasks.title")}>
        <div className={styles.bar}>
          {SIDES.map((side) => (
            <Select
              key={side}
              label={t(`shared_tasks.${side}`)}
              placeholder={t("shared_tasks.choose")}
              searchable
              clearable
              w={280}
              data={offered}
              value={search.get(side)}
              onChange={(value) => choose(side, value)}
            />
          ))}
        </div>
        {found.isPending && <Loading />}
        {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
        {found.data && <SharedTaskResult sharedTasks={found.data} left={left ?? null} right={right ?? null} />}
      </Section>
    </Page>
  );
}

type SharedTaskResultProps = { sharedTasks: SharedTasks; left: string | null; right: string | null };

function SharedTaskResult({ sharedTasks: { items, more }, left, right }: SharedTaskResultProps) {
  const { t } = useI18n();
  if (!left || !right || left === right) return <Empty title={t("shared_tasks.two")}>{t("shared_tasks.two.help")}</Empty>;
  if (items.length === 0) return <Empty title={t("shared_tasks.none")}>{t("shared_tasks.none.help")}</Empty>;
  return <SharedTaskTable items={items} more={more} left={left} right={right} />;
}

type SharedTaskTableProps = { items: readonly SharedTask[]; more: boolean; left: string; right: string };

function SharedTaskTable({ items, more, left, right }: SharedTaskTableProps) {
  const { t } = useI18n();
  const tally = countTally(items);
  return (
    <>
      <dl className={styles.figures}>
        {TALLY.map((name) => (
          <div key={name}>
            <dt>{t(`shared_tasks.${name}`)}</dt>
            <dd>{tally[name]}</dd>
          </div>
        ))}
      </dl>
      {more && <p className={styles.bar}>{t("shared_tasks.more", { count: items.length })}</p>}
      <DataTable
        rows={items}
        keyOf={({ task }) => task}
        columns={[
          {
            header: t("agreement.task"),
            kind: "name",
            cell: ({ one, other }) => (
              <>
                <Link className={styles.instruction} to={`/compare?one=${one.episode.id}&other=${other.episode.id}`}>
                  {one.episode.instruction}
                </Link>
                <div className={styles.note}>{one.episode.pool}</div>
              </>
            ),
          },
          { header: left, cell: ({ one }) => <AttemptResult attempt={one} /> },
          { header: right, cell: ({ other }) => <AttemptResult attempt={other} /> },
        ]}
      />
    </>
  );
}

function AttemptResult({ attempt: { episode } }: { attempt: Attempt }) {
  const { t } = useI18n();
  return (
    <div className={styles.buttons}>
      {isSuccessful(episode) === null || episode.verdict?.success == null ? (
        <OutcomeBadge outcome={episode.outcome} />
      ) : (
        <VerdictBadge verdict={episode.verdict} />
      )}
      <span className={styles.note}>{t("shared_tasks.steps", { count: episode.steps, name: episode.annotator_name })}</span>
    </div>
  );
}
