/** Every ended trajectory: searched by words, narrowed by facets, opened in the replay. */
import { Button, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useSearchParams } from "react-router";

import type { Facets } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Page, Section } from "@/shared/ui/page";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { PagePath } from "@/shared/ui/top-bar";

import { facetsQuery, foundQuery } from "./api";
import { FoundTable } from "./result-table";
import { Kept } from "./saved-queries";
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
  const found = useQuery(foundQuery(search));
  const facets = useQuery(facetsQuery(search)).data;
  const narrow = (name: string, value: string | null) => {
    const next = new URLSearchParams(search);
    next.delete("after");
    if (value) next.set(name, value);
    else next.delete(name);
    setSearch(next);
  };

  return (
    <Page>
      <PagePath crumbs={[{ label: t("trajectories.title") }]} />
      <Narrowing search={search} facets={facets} narrow={narrow} />
      <Section title={facets ? t("trajectories.found", { count: facets.total }) : t("trajectories.title")}>
        {found.isPending && <Loading />}
        {found.isError && <ErrorState error={found.error} onRetry={() => void found.refetch()} />}
        {found.data?.items.length === 0 && <Empty title={t("trajectories.none")}>{t("trajectories.none.help")}</Empty>}
        {found.data && found.data.items.length > 0 && <FoundTable found={found.data.items} />}
      </Section>
      {(search.has("after") || found.data?.next) && (
        <nav className={styles.pages} aria-label={t("episodes.pages")}>
          <Button variant="default" disabled={!search.has("after")} onClick={() => narrow("after", null)}>
            {t("trajectories.first")}
          </Button>
          <Button variant="default" disabled={!found.data?.next} onClick={() => narrow("after", found.data?.next ?? null)}>
            {t("trajectories.more")}
          </Button>
        </nav>
      )}
      <Kept search={search} />
    </Page>
  );
}

type Narrow = (name: string, value: string | null) => void;

function Narrowing({ search, facets, narrow }: { search: URLSearchParams; facets: Facets | undefined; narrow: Narrow }) {
  const { t } = useI18n();
  const text = search.get("text") ?? "";
  return (
    <div role="search" className={styles.narrowing} aria-label={t("trajectories.narrowing")}>
      <TextInput
        aria-label={t("trajectories.search")}
        placeholder={t("trajectories.search")}
        w={260}
        key={text}
        defaultValue={text}
        onBlur={(event) => event.currentTarget.value.trim() !== text && narrow("text", event.currentTarget.value.trim())}
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
          onChange={(value) => narrow(name, value)}
        />
      ))}
      <Select
        aria-label={t("trajectories.level")}
        placeholder={t("trajectories.level")}
        clearable
        w={150}
        data={LEVELS.map((level) => ({ value: level, label: t("design.level", { level }) }))}
        value={search.get("level")}
        onChange={(level) => narrow("level", level)}
      />
    </div>
  );
}
