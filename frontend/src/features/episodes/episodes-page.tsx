/** All episodes one may see: narrowed by the address, opened in the replay. */
import { Button, Select } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";

import { hasRole, useUser } from "@/shared/account/account";
import type { Prefetch } from "@/shared/api/prefetch";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { PersonSelect } from "@/shared/ui/person-select";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { episodesQuery, poolsQuery } from "./api";
import { EpisodeTable } from "./episode-table";
import styles from "./episodes.module.css";
import { fromSearch, REVIEWS, STATUSES, toSearch, type Filters } from "./filters";

export const prefetch: Prefetch = ({ client, search }) => [client.query(episodesQuery(fromSearch(search))), client.query(poolsQuery)];

export default function EpisodesPage() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  const filters = fromSearch(search);
  const episodes = useQuery(episodesQuery(filters));
  const change = (patch: Partial<Filters>) => setSearch(toSearch({ ...filters, page: 1, ...patch }), { replace: true });

  return (
    <Page>
      <PagePath crumbs={[{ label: t("episodes.title") }]} />
      <Section
        title={episodes.data ? t("episodes.count", { count: episodes.data.total }) : t("episodes.title")}
        aside={<FilterBar filters={filters} change={change} />}
      >
        {episodes.isPending && <Loading />}
        {episodes.isError && <ErrorState error={episodes.error} onRetry={() => void episodes.refetch()} />}
        {episodes.data?.items.length === 0 && <Empty title={t("episodes.none")}>{t("episodes.none.help")}</Empty>}
        {episodes.data && episodes.data.items.length > 0 && <EpisodeTable episodes={episodes.data.items} />}
      </Section>
      {episodes.data && (filters.page > 1 || episodes.data.next !== null) && (
        <nav className={styles.pages} aria-label={t("episodes.pages")}>
          <Button variant="default" disabled={filters.page === 1} onClick={() => change({ page: filters.page - 1 })}>
            {t("common.previous_page")}
          </Button>
          <span>{t("episodes.page", { page: filters.page })}</span>
          <Button
            variant="default"
            disabled={episodes.data.next === null}
            onClick={() => change({ page: episodes.data.next ?? filters.page })}
          >
            {t("common.next_page")}
          </Button>
        </nav>
      )}
    </Page>
  );
}

function FilterBar({ filters, change }: { filters: Filters; change: (patch: Partial<Filters>) => void }) {
  const { t } = useI18n();
  const user = useUser();
  const pools = useQuery(poolsQuery).data ?? [];
  return (
    <>
      <Select
        aria-label={t("episodes.status")}
        placeholder={t("episodes.any_status")}
        clearable
        w={130}
        data={STATUSES.map((status) => ({ value: status, label: t(`status.${status}`) }))}
        value={filters.status}
        onChange={(status) => change({ status })}
      />
      <Select
        aria-label={t("episodes.review")}
        placeholder={t("episodes.any_review")}
        clearable
        w={150}
        data={REVIEWS.map((review) => ({ value: review, label: t(`review.${review}`) }))}
        value={filters.review}
        onChange={(review) => change({ review })}
      />
      <Select
        aria-label={t("episodes.pool")}
        placeholder={t("episodes.any_pool")}
        clearable
        w={170}
        data={pools.map((pool) => ({ value: String(pool.id), label: pool.name }))}
        value={filters.pool}
        onChange={(pool) => change({ pool })}
      />
      {hasRole(user, "reviewer", "researcher") && (
        <PersonSelect
          aria-label={t("episodes.annotator")}
          placeholder={t("episodes.annotator")}
          w={150}
          value={filters.annotator}
          onChange={(annotator) => change({ annotator })}
        />
      )}
    </>
  );
}
