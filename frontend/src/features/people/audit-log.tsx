/** Who did what, searched by words and by what was done, the newest first. */
import { Button, Select, Table, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";
import { Link } from "react-router";

import { useI18n } from "@/shared/i18n/i18n";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { auditQuery } from "./api";
import { detailsInWords, shortened } from "./audit";
import styles from "./people.module.css";

const TYPING = 250;

export function AuditLog() {
  const { t, moment } = useI18n();
  const [words, setWords] = useState("");
  const [verb, setVerb] = useState<string | null>(null);
  const log = useInfiniteQuery(auditQuery(useDebouncedValue(words, TYPING)[0], verb));
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
        <Table className={styles.table} aria-label={t("audit.title")}>
          <Table.Thead>
            <Table.Tr>
              <Table.Th>{t("audit.when")}</Table.Th>
              <Table.Th>{t("audit.who")}</Table.Th>
              <Table.Th>{t("audit.what")}</Table.Th>
              <Table.Th>{t("audit.subject")}</Table.Th>
              <Table.Th>{t("audit.details")}</Table.Th>
            </Table.Tr>
          </Table.Thead>
          <Table.Tbody>
            {rows.map((row) => (
              <Table.Tr key={row.id}>
                <Table.Td className={styles.when}>{moment(row.at)}</Table.Td>
                <Table.Td>{row.actor ?? t("audit.system")}</Table.Td>
                <Table.Td>{row.verb}</Table.Td>
                <Table.Td title={row.subject}>
                  <Subject subject={row.subject} />
                </Table.Td>
                <Table.Td className={styles.details}>{detailsInWords(row.details)}</Table.Td>
              </Table.Tr>
            ))}
          </Table.Tbody>
        </Table>
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
  return kind === "episode" && id ? <Link to={`/episodes/${id}`}>{shortened(subject)}</Link> : shortened(subject);
}
