/** Finding ended trajectories by words and conditions; what is found is opened in the replay, or exported as it stands. */
import { Button } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState, type ReactNode } from "react";

import type { FoundEpisode } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { facetsQuery, resultsQuery } from "./api";
import { FilterBar } from "./filter-bar";
import { ResultTable } from "./result-table";
import { SavedQueries } from "./saved-queries";
import styles from "./trajectories.module.css";

type Props = {
  readonly search: URLSearchParams;
  readonly onSearch: (search: URLSearchParams) => void;
  /** What can be done with all that is found; nothing while it is not counted. */
  readonly aside: (total: number) => ReactNode;
};

export function SearchSections({ search, onSearch, aside }: Props) {
  const { t } = useI18n();
  const results = useQuery(resultsQuery(search));
  const [narrowing, setNarrowing] = useState(false);
  const facets = useQuery({ ...facetsQuery(search), enabled: narrowing }).data;
  const total = results.data?.total;
  const setFilter = (name: string, value: string | null) => {
    const next = new URLSearchParams(search);
    next.delete("after");
    if (value) next.set(name, value);
    else next.delete(name);
    onSearch(next);
  };
  return (
    <>
      <FilterBar search={search} facets={facets} setFilter={setFilter} onNarrow={() => setNarrowing(true)} />
      <Section title={total === undefined ? t("trajectories.title") : t("trajectories.found", { count: total })} aside={total !== undefined && aside(total)}>
        {results.isPending && <Loading />}
        {results.isError && <ErrorState error={results.error} onRetry={() => void results.refetch()} />}
        {results.data && <Found results={results.data.items} narrowed={search.size > 0} />}
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
    </>
  );
}

/** What was found; else, whether other words would help. */
function Found({ results, narrowed }: { readonly results: readonly FoundEpisode[]; readonly narrowed: boolean }) {
  const { t } = useI18n();
  if (results.length > 0) return <ResultTable results={results} />;
  return narrowed ? (
    <Empty title={t("trajectories.none")}>{t("trajectories.none.help")}</Empty>
  ) : (
    <Empty title={t("trajectories.none_yet")}>{t("trajectories.none_yet.help")}</Empty>
  );
}
