/** The tokens somebody made for programs. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";

import type { TokenOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Problem } from "@/shared/ui/problem";
import { confirmColumn } from "@/shared/ui/tables/confirm-column";
import { DataTable } from "@/shared/ui/tables/data-table";

import { useEndToken, useMakeToken } from "./api";
import styles from "./security.module.css";

const DEFAULT_DAYS = 90;
const READ_SCOPE = "*:read";

export function Tokens({ rows }: { rows: readonly TokenOut[] }) {
  const { t, moment, relative } = useI18n();
  const [name, setName] = useState("");
  const [scopes, setScopes] = useState(READ_SCOPE);
  const [make, end] = [useMakeToken(), useEndToken()];
  return (
    <>
      {rows.length === 0 ? (
        <div className={styles.body}>
          <p className={styles.note}>{t("security.tokens.none")}</p>
        </div>
      ) : (
        <DataTable
          label={t("security.tokens")}
          rows={rows}
          keyOf={(row) => row.id}
          columns={[
            { header: t("security.token.name"), kind: "name", cell: (row) => row.name },
            { header: t("security.token.scopes"), className: styles.key, cell: (row) => row.scopes.join(" ") },
            { header: t("security.token.until"), cell: (row) => moment(row.expires_at) },
            { header: t("security.token.used"), cell: (row) => row.used_at ? relative(row.used_at) : t("people.never") },
            confirmColumn({
              header: t("people.actions"),
              label: t("security.token.end"),
              ariaLabel: (row: TokenOut) => t("security.token.end_one", { name: row.name }),
              confirmation: () => t("security.token.end.ask"),
              onConfirm: (row: TokenOut) => end.mutateAsync(row.id),
            }),
          ]}
        />
      )}
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate({ name, scopes: scopes.split(/\s+/).filter(Boolean), days: DEFAULT_DAYS }, { onSuccess: () => setName("") });
        }}
      >
        <TextInput label={t("security.token.name")} value={name} onChange={(event) => setName(event.currentTarget.value)} />
        <TextInput
          label={t("security.token.scopes")}
          description={t("security.token.scopes.help")}
          value={scopes}
          onChange={(event) => setScopes(event.currentTarget.value)}
        />
        <Button type="submit" disabled={!name.trim() || !scopes.trim()} loading={make.isPending}>
          {t("security.token.make")}
        </Button>
      </form>
      <div className={styles.body}>
        {make.data && <TextInput readOnly w="100%" label={t("security.token.made")} value={make.data.token} />}
        <Problem error={make.error} />
      </div>
    </>
  );
}
