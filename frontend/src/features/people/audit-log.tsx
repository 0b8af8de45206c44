/** Who did what, searched by words and by what was done, the newest first. */
import { Button, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { auditQuery } from "./api";
import { formatDetails, shortenSubject } from "./audit";
import styles from "./people.module.css";

const DEBOUNCE_MS = 250;

export function AuditLog() {
  const { t, moment } = useI18n();
  const [words, setWords] = useState("");
  const [verb, setVerb] = useState<string | null>(null);
  const log = useInfiniteQuery(auditQuery(useDebouncedValue(words, DEBOUNCE_MS)[0], verb));
  const rows = log.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <div className={styles.form} role="search">
        <TextInput label={t("audit.words")} value={words} onChange={(event) => setWords(event.currentTarget.value)} />
        <Select
          label={t("audit.verb")}
          placeholder={t("audit.any_verb")}
          clearable
          searchable
          data={[...(log.data?.pages[0]?.verbs ?? [])]}
          value={verb}
          onChange={setVerb}
        />
      </div>
      {log.isPending && <Loading />}
      {log.isError && <ErrorState error={log.error} onRetry={() => void log.refetch()} />}
      {log.isSuccess && rows.length === 0 && <Empty title={t("audit.none")}>{t("audit.none.help")}</Empty>}
      {rows.length > 0 && (
        <DataTable
          label={t("audit.title")}
          rows={rows}
          keyOf={(row) => row.id}
          columns={[
            { header: t("audit.when"), kind: "name", className: styles.when, cell: (row) => moment(row.at) },
            { header: t("audit.who"), cell: (row) => row.actor ?? t("audit.system") },
            { header: t("audit.what"), cell: (row) => row.verb },
            { header: t("audit.subject"), fullText: (row) => row.subject, cell: (row) => <Subject subject={row.subject} /> },
            { header: t("audit.details"), className: styles.details, cell: (row) => formatDetails(row.details) },
          ]}
        />
      )}
      {log.hasNextPage && (
        <div className={styles.more}>
          <Button variant="default" loading={log.isFetchingNextPage} onClick={() => void log.fetchNextPage()}>
            {t("people.more")}
          </Button>
        </div>
      )}
    </>
  );
}

/** What an entry is about: an episode opens, everything else is named. */
function Subject({ subject }: { subject: string }) {
  const [kind, id] = subject.split(":");
  return kind === "episode" && id ? <Link to={`/episodes/${id}`}>{shortenSubject(subject)}</Link> : shortenSubject(subject);
}
