/** How far people agree: on verdicts, on steps, with the reference; and what is nearly the same. */
import { Button, Progress, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";

import type { Agreement, DuplicatePair, GoldScore, JobOut, TaskAgreement } from "@/generated/api";
import { hasRole, useUser } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Page, Section } from "@/shared/ui/page";
import { Problem } from "@/shared/ui/problem";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { agreementQuery, duplicatesQuery, poolsQuery, isRunning, useSearch } from "./api";
import styles from "./review.module.css";

export default function AgreementPage() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  const requestedPool = search.get("pool");
  const pool = requestedPool && /^\d+$/.test(requestedPool) ? requestedPool : null;
  const pools = useQuery(poolsQuery).data ?? [];
  const agreement = useQuery(agreementQuery(pool));
  return (
    <Page>
      <PagePath crumbs={[{ label: t("agreement.title") }]} />
      <Section
        title={t("agreement.title")}
        aside={
          <Select
            aria-label={t("episodes.pool")}
            placeholder={t("episodes.any_pool")}
            clearable
            w={220}
            data={pools.map(({ id, name }) => ({ value: String(id), label: name }))}
            value={pool}
            onChange={(chosen) => setSearch(chosen ? { pool: chosen } : {}, { replace: true })}
          />
        }
      >
        {agreement.isPending && <Loading />}
        {agreement.isError && <ErrorState error={agreement.error} onRetry={() => void agreement.refetch()} />}
        {agreement.data && <Figures agreement={agreement.data} />}
      </Section>
      {agreement.data && (
        <>
          <Section title={t("agreement.tasks")}>
            {agreement.data.tasks.length === 0 ? (
              <Empty title={t("agreement.steps.none")}>{t("agreement.tasks.none.help")}</Empty>
            ) : (
              <TaskTable tasks={agreement.data.tasks} />
            )}
          </Section>
          <Section title={t("agreement.gold")}>
            {agreement.data.gold.length === 0 ? (
              <Empty title={t("agreement.gold.none")}>{t("agreement.gold.none.help")}</Empty>
            ) : (
              <GoldTable scores={agreement.data.gold} />
            )}
          </Section>
        </>
      )}
      <Section title={t("agreement.duplicates")}>
        {pool === null ? <Empty title={t("agreement.duplicates.choose")} /> : <DuplicateSearch pool={pool} />}
      </Section>
    </Page>
  );
}

function Figures({ agreement: { alpha, decisions, steps_judged_together, mean_agreement } }: { agreement: Agreement }) {
  const { t, percent, language } = useI18n();
  const decimals = new Intl.NumberFormat(language, { minimumFractionDigits: 3, maximumFractionDigits: 3 });
  return (
    <dl className={styles.figures}>
      <div>
        <dt>{t("agreement.alpha")}</dt>
        <dd>
          {alpha === null ? "—" : decimals.format(alpha)}
          <span>{alpha === null ? t("agreement.alpha.none") : t("agreement.alpha.help", { count: steps_judged_together })}</span>
        </dd>
      </div>
      <div>
        <dt>{t("agreement.decisions")}</dt>
        <dd>
          {decisions.share === null ? "—" : percent(decisions.share)}
          <span>
            {decisions.share === null
              ? t("agreement.decisions.none")
              : t("agreement.decisions.help", { count: decisions.episodes, alpha: decisions.alpha === null ? "—" : decimals.format(decisions.alpha) })}
          </span>
        </dd>
      </div>
      {decisions.words > 0 && (
        <div>
          <dt>{t("agreement.words")}</dt>
          <dd>
            {decisions.words_alpha === null ? "—" : decimals.format(decisions.words_alpha)}
            <span>{t("agreement.words.help", { count: decisions.words })}</span>
          </dd>
        </div>
      )}
      <div>
        <dt>{t("agreement.steps")}</dt>
        <dd>
          {mean_agreement === null ? "—" : percent(mean_agreement)}
          <span>{t(mean_agreement === null ? "agreement.steps.none" : "agreement.steps.help")}</span>
        </dd>
      </div>
    </dl>
  );
}

function TaskTable({ tasks }: { tasks: readonly TaskAgreement[] }) {
  const { t, percent } = useI18n();
  return (
    <DataTable
      rows={tasks}
      keyOf={({ task }) => task}
      columns={[
        {
          header: t("agreement.task"),
          kind: "name",
          cell: ({ instruction, pool, episodes, adjudicated }) => (
            <>
              <Link className={styles.instruction} to={`/compare?one=${episodes[0]}&other=${episodes[1]}`}>
                {instruction}
              </Link>
              <div className={styles.note}>
                {pool} {adjudicated && <Badge tone="ok">{t("agreement.adjudicated")}</Badge>}
              </div>
            </>
          ),
        },
        {
          header: t("agreement.people"),
          cell: ({ annotators }) => annotators.join(", "),
        },
        {
          header: t("agreement.share"),
          kind: "number",
          cell: ({ agreement }) => percent(agreement),
        },
        {
          header: t("agreement.outcomes"),
          cell: ({ outcomes_agree }) => <Badge tone={outcomes_agree ? "ok" : "warn"}>{t(outcomes_agree ? "agreement.outcomes.same" : "agreement.outcomes.differ")}</Badge>,
        },
      ]}
    />
  );
}

function GoldTable({ scores }: { scores: readonly GoldScore[] }) {
  const { t, percent } = useI18n();
  return (
    <DataTable
      rows={scores}
      keyOf={({ annotator }) => annotator}
      columns={[
        {
          header: t("agreement.person"),
          kind: "name",
          cell: ({ annotator }) => annotator,
        },
        {
          header: t("agreement.gold.done"),
          kind: "number",
          cell: ({ episodes }) => episodes,
        },
        {
          header: t("agreement.gold.steps"),
          kind: "number",
          cell: ({ agreement }) => percent(agreement),
        },
        {
          header: t("agreement.gold.outcomes"),
          kind: "number",
          cell: ({ outcomes }) => percent(outcomes),
        },
      ]}
    />
  );
}

function DuplicateSearch({ pool }: { pool: string }) {
  const { t } = useI18n();
  const found = useQuery(duplicatesQuery(pool));
  const search = useSearch(pool);
  const canReview = hasRole(useUser(), "reviewer");
  if (found.isPending) return <Loading />;
  if (found.isError) return <ErrorState error={found.error} onRetry={() => void found.refetch()} />;
  const { job, pairs } = found.data;
  return (
    <>
      {canReview && (
        <div className={styles.bar}>
          <SearchButton job={job} search={search} />
          <Problem error={search.error} />
          {job?.status === "failed" && <p className={styles.error}>{job.error}</p>}
        </div>
      )}
      {pairs.length > 0 && <DuplicateTable pairs={pairs} />}
      {pairs.length === 0 && job?.status === "done" && <Empty title={t("agreement.duplicates.none")} />}
    </>
  );
}

/** Begins a search, or shows how far it is and cancels it. */
function SearchButton({ job, search }: { job: JobOut | null; search: ReturnType<typeof useSearch> }) {
  const { t } = useI18n();
  if (job === null || !isRunning(job)) {
    return (
      <Button size="compact-sm" variant="default" loading={search.isPending} onClick={() => search.mutate(null)}>
        {t("agreement.duplicates.search")}
      </Button>
    );
  }
  const share = job.total === 0 ? 0 : (job.done / job.total) * 100;
  return (
    <>
      <Progress w={200} value={share} aria-label={t("agreement.duplicates.progress")} />
      <Button size="compact-sm" variant="default" onClick={() => search.mutate(job.id)}>
        {t("agreement.duplicates.cancel")}
      </Button>
    </>
  );
}

function DuplicateTable({ pairs }: { pairs: readonly DuplicatePair[] }) {
  const { t, percent } = useI18n();
  return (
    <DataTable
      rows={pairs}
      keyOf={({ one, other }) => `${one.id} ${other.id}`}
      columns={[
        {
          header: t("agreement.task"),
          kind: "name",
          cell: ({ one, other, same_task }) => (
            <>
              {[one, other].map(({ id, instruction, annotator }) => (
                <div key={id}>
                  <Link to={`/episodes/${id}`}>{instruction}</Link> <span className={styles.note}>{annotator}</span>
                </div>
              ))}
              {same_task && <Badge tone="neutral">{t("agreement.duplicates.same_task")}</Badge>}
            </>
          ),
        },
        {
          header: t("agreement.duplicates.text"),
          kind: "number",
          cell: ({ text }) => percent(text),
        },
        {
          header: t("agreement.duplicates.screens"),
          kind: "number",
          cell: ({ screens }) => screens === null ? "—" : percent(screens),
        },
      ]}
    />
  );
}
