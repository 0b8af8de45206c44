/** The people there are, searched, page by page. */
import { Button, Select, TextInput } from "@mantine/core";
import { useDebouncedValue } from "@mantine/hooks";
import { useInfiniteQuery } from "@tanstack/react-query";
import { useState } from "react";

import type { PersonOut } from "@/generated/api";
import type { Role } from "@/shared/account/account";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Empty, ErrorState, Loading } from "@/shared/ui/states";

import { peopleQuery, ROLES } from "./api";
import styles from "./people.module.css";
import { PersonDialog } from "./person-dialog";

const DEBOUNCE_MS = 250;
/** Milliseconds without a key before what was typed is searched for. */

export function PersonTable() {
  const { t, relative } = useI18n();
  const [words, setWords] = useState("");
  const [role, setRole] = useState<string | null>(null);
  const [changing, setChanging] = useState<PersonOut | null>(null);
  const people = useInfiniteQuery(peopleQuery(useDebouncedValue(words, DEBOUNCE_MS)[0], role));
  const rows = people.data?.pages.flatMap((page) => page.items) ?? [];
  return (
    <>
      <div className={styles.form} role="search">
        <TextInput label={t("people.search")} value={words} onChange={(event) => setWords(event.currentTarget.value)} />
        <Select
          label={t("people.role")}
          placeholder={t("people.any_role")}
          clearable
          data={ROLES.map((value) => ({ value, label: t(`role.${value}`) }))}
          value={role}
          onChange={setRole}
        />
      </div>
      {people.isPending && <Loading />}
      {people.isError && <ErrorState error={people.error} onRetry={() => void people.refetch()} />}
      {people.isSuccess && rows.length === 0 && <Empty title={t("people.none")}>{t("people.none.help")}</Empty>}
      {rows.length > 0 && (
        <DataTable
          rows={rows}
          keyOf={(person) => person.id}
          columns={[
            {
              header: t("people.person"),
              kind: "name",
              cell: (person) => (
                <>
                  <div className={styles.name}>{person.name}</div>
                  <p className={styles.note}>{[person.username, person.email].filter(Boolean).join(" · ")}</p>
                </>
              ),
            },
            { header: t("people.roles"), cell: (person) => person.roles.map((role) => t(`role.${role as Role}`)).join(", ") },
            { header: t("people.skills"), cell: (person) => person.skills.join(", ") },
            {
              header: t("people.ways"),
              cell: (person) => (
                <>
                  {!person.active && <Badge tone="danger">{t("people.blocked")}</Badge>}
                  {person.two_factor && <Badge tone="ok">{t("people.two_factor")}</Badge>}
                </>
              ),
            },
            {
              header: t("people.last"),
              cell: (person) => (person.last_login ? relative(person.last_login) : t("people.never")),
            },
            {
              header: t("people.actions"),
              kind: "actions",
              cell: (person) => (
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={t("people.change_one", { name: person.name })}
                  onClick={() => setChanging(person)}
                >
                  {t("people.change")}
                </Button>
              ),
            },
          ]}
        />
      )}
      {people.hasNextPage && (
        <div className={styles.more}>
          <Button variant="default" loading={people.isFetchingNextPage} onClick={() => void people.fetchNextPage()}>
            {t("people.more")}
          </Button>
        </div>
      )}
      <PersonDialog key={changing?.id} person={changing} onClose={() => setChanging(null)} />
    </>
  );
}
