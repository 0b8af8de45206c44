/** Everything that narrows a search. The address holds it, so that it can be sent and kept. */
import { Button, NumberInput, Select, TextInput } from "@mantine/core";
import { useQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { EpisodeSummary, Facets } from "@/generated/api";
import type { Decision, Outcome } from "@/generated/vocabulary";
import { useI18n, type Translate } from "@/shared/i18n/i18n";
import { PersonSelect } from "@/shared/ui/person-select";

import { poolsQuery } from "@/features/exports/api";
import { dayOf, momentOf } from "./query";
import styles from "./trajectories.module.css";

const FACETS = [
  ["decisions", "decisions", "trajectories.decisions"],
  ["policies", "policy", "trajectories.policies"],
  ["applications", "application", "trajectories.applications"],
  ["actions", "action", "trajectories.actions"],
  ["outcomes", "outcome", "episodes.outcome"],
  ["reviews", "review", "episodes.review"],
] as const;
/** Values with words of their own; all others stand as they are, since an address may hold any. */
const DECISIONS: readonly Decision[] = ["accept", "edit", "override", "takeover", "auto", "again"];
const OUTCOMES: readonly Outcome[] = ["success", "failure", "infeasible", "skipped", "broken"];
const REVIEWS: readonly EpisodeSummary["review"][] = ["pending", "accepted", "returned", "rejected"];

function wordsOf(t: Translate, name: (typeof FACETS)[number][1], value: string): string {
  const decision = DECISIONS.find((one) => name === "decisions" && one === value);
  const outcome = OUTCOMES.find((one) => name === "outcome" && one === value);
  const review = REVIEWS.find((one) => name === "review" && one === value);
  if (decision) return t(`decision.${decision}`);
  if (outcome) return t(`outcome.${outcome}`);
  return review ? t(`review.${review}`) : value;
}
const LEVELS = ["1", "2", "3", "4", "5"] as const;
const NUMBERS = [
  ["reward_min", "trajectories.reward_min"],
  ["reward_max", "trajectories.reward_max"],
  ["steps_min", "trajectories.steps_min"],
  ["steps_max", "trajectories.steps_max"],
] as const;
const DAYS = [
  ["since", "trajectories.since"],
  ["until", "trajectories.until"],
] as const;
const FURTHER = ["annotator", "level", ...NUMBERS.map(([name]) => name), ...DAYS.map(([name]) => name)];
const WIDTH = 150;

type Props = {
  readonly search: URLSearchParams;
  /** How what was found divides; asked for when somebody begins to narrow. */
  readonly facets: Facets | undefined;
  readonly setFilter: (name: string, value: string | null) => void;
};

export function FilterBar({ search, facets, setFilter, onNarrow }: Props & { readonly onNarrow: () => void }) {
  const { t } = useI18n();
  const [further, setFurther] = useState(FURTHER.some((name) => search.has(name)));
  const pools = useQuery(poolsQuery).data ?? [];
  return (
    <div role="search" className={styles.filters} aria-label={t("trajectories.narrowing")}>
      <Words name="text" label={t("trajectories.search")} width={260} {...{ search, setFilter }} />
      <Select
        aria-label={t("episodes.pool")}
        placeholder={t("episodes.pool")}
        clearable
        searchable
        w={WIDTH}
        data={pools.map(({ id, name }) => ({ value: String(id), label: name }))}
        value={search.get("pool")}
        onChange={(value) => setFilter("pool", value)}
      />
      {FACETS.map(([many, name, label]) => (
        <Select
          key={name}
          aria-label={t(label)}
          placeholder={t(label)}
          clearable
          w={WIDTH}
          data={optionsOf(facets?.[many], search.get(name), (value) => wordsOf(t, name, value))}
          value={search.get(name)}
          onFocus={onNarrow}
          onChange={(value) => setFilter(name, value)}
        />
      ))}
      {further ? (
        <FurtherFilters search={search} setFilter={setFilter} />
      ) : (
        <Button variant="default" onClick={() => setFurther(true)}>
          {t("trajectories.further")}
        </Button>
      )}
    </div>
  );
}

/** The values with their counts; while they are not counted, the chosen one. */
function optionsOf(values: Facets["policies"] | undefined, chosen: string | null, describe: (value: string) => string) {
  if (values) return values.map(({ value, count }) => ({ value, label: `${describe(value)} (${String(count)})` }));
  return chosen === null ? [] : [{ value: chosen, label: describe(chosen) }];
}

function FurtherFilters({ search, setFilter }: Omit<Props, "facets">) {
  const { t } = useI18n();
  return (
    <>
      <Select
        aria-label={t("trajectories.level")}
        placeholder={t("trajectories.level")}
        clearable
        w={WIDTH}
        data={LEVELS.map((level) => ({ value: level, label: t("design.level", { level }) }))}
        value={search.get("level")}
        onChange={(level) => setFilter("level", level)}
      />
      <PersonSelect
        aria-label={t("episodes.annotator")}
        placeholder={t("episodes.annotator")}
        w={WIDTH}
        value={search.get("annotator")}
        onChange={(annotator) => setFilter("annotator", annotator)}
      />
      {NUMBERS.map(([name, label]) => (
        <NumberInput
          key={`${name} ${search.get(name) ?? ""}`}
          aria-label={t(label)}
          placeholder={t(label)}
          title={t(label)}
          w={WIDTH}
          defaultValue={search.get(name) ?? ""}
          onBlur={(event) => event.currentTarget.value !== (search.get(name) ?? "") && setFilter(name, event.currentTarget.value)}
          onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
          {...(name.startsWith("steps") ? { min: 0, allowDecimal: false } : {})}
        />
      ))}
      {DAYS.map(([name, label]) => (
        <TextInput
          key={name}
          type="date"
          aria-label={t(label)}
          title={t(label)}
          leftSection={t(`${label}.short`)}
          leftSectionWidth={56}
          w={200}
          value={dayOf(search.get(name))}
          onChange={(event) => setFilter(name, momentOf(event.currentTarget.value))}
        />
      ))}
    </>
  );
}

type WordsProps = Omit<Props, "facets"> & { readonly name: string; readonly label: string; readonly width: number };

/** Text that narrows once the field is left. */
function Words({ name, label, width, search, setFilter }: WordsProps) {
  const text = search.get(name) ?? "";
  return (
    <TextInput
      aria-label={label}
      placeholder={label}
      w={width}
      key={text}
      defaultValue={text}
      onBlur={(event) => event.currentTarget.value.trim() !== text && setFilter(name, event.currentTarget.value.trim())}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
}
