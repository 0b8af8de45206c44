/** Every ended trajectory: searched by words, narrowed by facets, opened in the replay. */
import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";

import type { Facets } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { facetsQuery, resultsQuery } from "./api";
import { ResultTable } from "./result-table";
import { SavedQueries } from "./saved-queries";
import styles from "./trajectories.module.css";

const FACETS = [
  ["decisions", "decisions", "trajectories.decisions"],
  ["policies", "policy", "trajectories.policies"],
  ["applications", "application", "trajectories.applications"],
  ["outcomes", "outcome", "episodes.outcome"],
  ["reviews", "review", "episodes.review"],
] as const;

const LEVELS = ["1", "2", "3", "4", "5"] as const;

export default function TrajectoriesPage() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  const results = useQuery(resultsQuery(search));
  const facets = useQuery(facetsQuery(search)).data;
  const setFilter = (name: string, value: string | null) => {
    const next = new URLSearchParams(search);
    next.delete("after");
    if (value) next.set(name, value);
    else next.delete(name);
    setSearch(next);
  };

  return (
    <Page>
      <PagePath crumbs={[{ label: t("trajectories.title") }]} />
      <FilterBar search={search} facets={facets} setFilter={setFilter} />
      <Section title={facets ? t("trajectories.found", { count: facets.total }) : t("trajectories.title")}>
        {results.isPending && <Loading />}
        {results.isError && <ErrorState error={results.error} onRetry={() => void results.refetch()} />}
        {results.data?.items.length === 0 && <Empty title={t("trajectories.none")}>{t("trajectories.none.help")}</Empty>}
        {results.data && results.data.items.length > 0 && <ResultTable results={results.data.items} />}
      </Section>
      {(search.has("after") || results.data?.next) && (
        <nav className={styles.pages} aria-label={t("episodes.pages")}>
          <Button variant="default" disabled={!search.has("after")} onClick={() => setFilter("after", null)}>
            {t("trajectories.first")}
          </Button>
          <Button variant="default" disabled={!results.data?.next} onClick={() => setFilter("after", results.data?.next ?? null)}>
            {t("trajectories.more")}
          </Button>
        </nav>
      )}
      <SavedQueries search={search} />
    </Page>
  );
}

type SetFilter = (name: string, value: string | null) => void;

function FilterBar({ search, facets, setFilter }: { search: URLSearchParams; facets: Facets | undefined; setFilter: SetFilter }) {
  const { t } = useI18n();
  const text = search.get("text") ?? "";
  return (
    <div role="search" className={styles.filters} aria-label={t("trajectories.narrowing")}>
      <TextInput
        aria-label={t("trajectories.search")}
        placeholder={t("trajectories.search")}
        w={260}
        key={text}
        defaultValue={text}
        onBlur={(event) => event.currentTarget.value.trim() !== text && setFilter("text", event.currentTarget.value.trim())}
        onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
      />
      {FACETS.map(([many, name, label]) => (
        <Select
          key={name}
          aria-label={t(label)}
          placeholder={t(label)}
          clearable
          w={150}
          data={(facets?.[many] ?? []).map(({ value, count }) => ({ value, label: `${value} (${String(count)})` }))}
          value={search.get(name)}
          onChange={(value) => setFilter(name, value)}
        />
      ))}
      <Select
        aria-label={t("trajectories.level")}
        placeholder={t("trajectories.level")}
        clearable
        w={150}
        data={LEVELS.map((level) => ({ value: level, label: t("design.level", { level }) }))}
        value={search.get("level")}
        onChange={(level) => setFilter("level", level)}
      />
    </div>
  );
}
