/** Who did what, the newest first; narrowed by the address. */
import { Button, Select, TextInput } from "@mantine/core";
import { useInfiniteQuery } from "@tanstack/react-query";
import { Link, useSearchParams } from "react-router";

import type { AuditOut } from "@/generated/api";
import { useI18n, type Translate } from "@/shared/i18n/i18n";
import { PersonSelect } from "@/shared/ui/person-select";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";
import { DataTable } from "@/shared/ui/tables/data-table";

import { auditQuery } from "./api";
import { formatDetails, shortenSubject } from "./audit";
import { fromSearch, KINDS, PARTS, toSearch, type Filters, type Verb } from "./audit-filters";
import styles from "./people.module.css";

export function AuditLog() {
  const { t } = useI18n();
  const [search, setSearch] = useSearchParams();
  const filters = fromSearch(search);
  const log = useInfiniteQuery(auditQuery(filters));
  const pages = log.data?.pages ?? [];
  const rows = pages.flatMap((page) => page.items);
  const verbs = pages[0]?.verbs ?? [];
  return (
    <>
      <FilterBar filters={filters} verbs={verbs} onChange={(patch) => setSearch(toSearch({ ...filters, ...patch }), { replace: true })} />
      {log.isPending && <Loading />}
      {log.isError && <ErrorState error={log.error} onRetry={() => void log.refetch()} />}
      {log.isSuccess && rows.length === 0 && (
        <NoEntries narrowed={toSearch(filters).size > 0} further={log.hasNextPage} onReset={() => setSearch({}, { replace: true })} />
      )}
      {rows.length > 0 && <Entries rows={rows} verbs={verbs} />}
      {log.hasNextPage && <More label={t(rows.length === 0 ? "audit.search_older" : "people.more")} loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()} />}
    </>
  );
}

function More({ label, loading, onClick }: { readonly label: string; readonly loading: boolean; readonly onClick: () => void }) {
  return (
    <div className={styles.more}>
      <Button variant="default" loading={loading} onClick={onClick}>
        {label}
      </Button>
    </div>
  );
}

function Entries({ rows, verbs }: { readonly rows: readonly AuditOut[]; readonly verbs: readonly Verb[] }) {
  const { t, moment } = useI18n();
  const verbText = (verb: string) => (isOneOf(verbs, verb) ? t(`audit.verb.${verb}`) : verb);
  return (
    <DataTable
      label={t("audit.title")}
      rows={rows}
      keyOf={(row) => row.id}
      columns={[
        { header: t("audit.when"), kind: "name", className: styles.when, cell: (row) => moment(row.at) },
        { header: t("audit.who"), cell: (row) => <Who row={row} /> },
        { header: t("audit.what"), fullText: (row) => row.verb, cell: (row) => verbText(row.verb) },
        { header: t("audit.subject"), fullText: (row) => row.subject, cell: (row) => <Subject row={row} /> },
        { header: t("audit.details"), className: styles.details, cell: (row) => formatDetails(row.details) },
      ]}
    />
  );
}

type NoEntriesProps = {
  readonly narrowed: boolean;
  /** There are older entries that were not searched yet. */
  readonly further: boolean;
  readonly onReset: () => void;
};

function NoEntries({ narrowed, further, onReset }: NoEntriesProps) {
  const { t } = useI18n();
  if (!narrowed) return <Empty title={t("audit.none_yet")} />;
  return (
    <Empty
      title={t(further ? "audit.none_newest" : "audit.none")}
      action={
        <Button variant="default" onClick={onReset}>
          {t("audit.reset")}
        </Button>
      }
    >
      {t("audit.none.help")}
    </Empty>
  );
}

type FilterBarProps = { readonly filters: Filters; readonly verbs: readonly Verb[]; readonly onChange: (patch: Partial<Filters>) => void };

function FilterBar({ filters, verbs, onChange }: FilterBarProps) {
  const { t } = useI18n();
  return (
    <div className={styles.form} role="search" aria-label={t("audit.title")}>
      <PersonSelect label={t("audit.who")} placeholder={t("audit.anybody")} value={filters.actor || null} onChange={(actor) => onChange({ actor: actor ?? "" })} />
      <Select
        label={t("audit.verb")}
        placeholder={t("audit.any_verb")}
        clearable
        searchable
        data={verbs.map((verb) => ({ value: verb, label: t(`audit.verb.${verb}`) })).sort((one, other) => one.label.localeCompare(other.label))}
        value={filters.verb || null}
        onChange={(verb) => onChange({ verb: verb ?? "" })}
      />
      <Select
        label={t("audit.kind")}
        placeholder={t("audit.any_kind")}
        clearable
        searchable
        data={KINDS.map((kind) => ({ value: kind, label: t(`audit.kind.${kind}`) }))}
        value={filters.kind || null}
        onChange={(kind) => onChange({ kind: kind ?? "", id: "" })}
      />
      <Words label={t("audit.id")} value={filters.id} disabled={filters.kind === ""} onChange={(id) => onChange({ id })} />
      {(["since", "until"] as const).map((name) => (
        <Words key={name} type="date" label={t(`audit.${name}`)} value={filters[name]} onChange={(day) => onChange({ [name]: day })} />
      ))}
      <Words label={t("audit.words")} value={filters.words} onChange={(words) => onChange({ words })} />
    </div>
  );
}

type WordsProps = { readonly label: string; readonly value: string; readonly disabled?: boolean; readonly type?: "date"; readonly onChange: (text: string) => void };

/** Text that narrows once the field is left or Enter is pressed. */
function Words({ label, value, disabled, type, onChange }: WordsProps) {
  return (
    <TextInput
      key={value}
      label={label}
      disabled={disabled}
      type={type}
      defaultValue={value}
      onBlur={(event) => event.currentTarget.value.trim() !== value && onChange(event.currentTarget.value.trim())}
      onKeyDown={(event) => event.key === "Enter" && event.currentTarget.blur()}
    />
  );
}

const isOneOf = <Known extends string>(known: readonly Known[], text: string): text is Known => (known as readonly string[]).includes(text);

/** Who acted, and how they came in; or which part of the platform. */
function Who({ row: { actor, source } }: { readonly row: AuditOut }) {
  const { t } = useI18n();
  if (source?.kind === "part") return isOneOf(PARTS, source.name) ? t("audit.system.part", { part: t(`audit.part.${source.name}`) }) : t("audit.system");
  return (
    <>
      {actor ?? t("audit.system")}
      {source && <div className={styles.source}>{t(`audit.source.${source.kind}`, { name: source.name })}</div>}
    </>
  );
}

/** What an entry is about, with its kind in words: an episode opens, a person has their name. */
function Subject({ row: { subject, subject_name: name } }: { readonly row: AuditOut }) {
  const { t } = useI18n();
  const [kind = "", id = "", ...rest] = subject.split(":");
  if (!isOneOf(KINDS, kind)) return shortenSubject(subject);
  if (kind === "quota") return `${t("audit.kind.quota")} ${quotaHolder(t, id, rest.join(":"))}`;
  const text = `${t(`audit.kind.${kind}`)} ${name || shortenSubject(subject.slice(kind.length + 1))}`.trim();
  return kind === "episode" && id ? <Link to={`/episodes/${id}`}>{text}</Link> : text;
}

/** Whom a quota is for: one person or pool by name, or each without a quota of its own (`*`). */
function quotaHolder(t: Translate, scope: string, name: string): string {
  const holder = scope === "pool" ? "pool" : "user";
  return name === "*" ? t(`audit.quota.${holder}_default`) : t(`audit.quota.${holder}`, { name });
}
