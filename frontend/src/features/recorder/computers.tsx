/** The computers that are paired, and the code that pairs another one. */
import { Button, TextInput } from "@mantine/core";
import { useState } from "react";

import type { ComputerOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";
import { Snippet } from "@/shared/ui/snippet";
import { confirmColumn } from "@/shared/ui/tables/confirm-column";
import { DataTable } from "@/shared/ui/tables/data-table";

import { useMakeCode, useRevoke } from "./api";
import styles from "./recorder.module.css";

export function Computers({ rows }: { rows: readonly ComputerOut[] }) {
  const { t, moment, relative } = useI18n();
  const [name, setName] = useState("");
  const [make, revoke] = [useMakeCode(), useRevoke()];
  const waiting = rows.some((row) => row.paired_at === null);
  const code = waiting ? make.data : undefined;
  return (
    <>
      {rows.length > 0 && (
        <DataTable
          label={t("recorder.computers")}
          rows={rows}
          keyOf={(row) => row.id}
          columns={[
            {
              header: t("recorder.computer"),
              kind: "name",
              cell: (row) => (
                <>
                  {row.name} {row.paired_at === null && <Badge tone="warn">{t("recorder.waiting")}</Badge>}
                </>
              ),
            },
            { header: t("recorder.used"), cell: (row) => (row.used_at ? relative(row.used_at) : t("people.never")) },
            { header: t("recorder.until"), cell: (row) => moment(row.expires_at) },
            confirmColumn({
              header: t("people.actions"),
              label: t("recorder.revoke"),
              ariaLabel: (row: ComputerOut) => t("recorder.revoke.one", { name: row.name }),
              confirmation: () => t("recorder.revoke.ask"),
              onConfirm: (row: ComputerOut) => revoke.mutateAsync(row.id),
            }),
          ]}
        />
      )}
      <form
        className={styles.form}
        onSubmit={(event) => {
          event.preventDefault();
          make.mutate({ name }, { onSuccess: () => setName("") });
        }}
      >
        <TextInput
          label={t("recorder.name")}
          description={t("recorder.name.help")}
          value={name}
          maxLength={64}
          onChange={(event) => setName(event.currentTarget.value)}
        />
        <Button type="submit" disabled={!name.trim()} loading={make.isPending}>
          {t("recorder.pair")}
        </Button>
      </form>
      <div className={styles.body} aria-live="polite">
        <Problem error={make.error} />
        {code && (
          <>
            <p className={styles.note}>{t("recorder.code.help", { until: moment(code.expires_at) })}</p>
            <p className={styles.code} data-testid="pairing-code">
              {code.code}
            </p>
            <Snippet name={t("recorder.code.command")} text={`pilothouse-recorder pair ${window.location.origin} ${code.code}`} />
          </>
        )}
        {make.data && !waiting && <p className={styles.note}>{t("recorder.code.done")}</p>}
      </div>
    </>
  );
}
