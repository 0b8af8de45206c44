/** The browsers somebody is signed in with. */
import { Button } from "@mantine/core";

import type { SignInOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";

import { useEndOthers, useEndSignIn } from "./api";
import styles from "./security.module.css";

export function Browsers({ rows }: { rows: readonly SignInOut[] }) {
  const { t, relative } = useI18n();
  const [end, others] = [useEndSignIn(), useEndOthers()];
  return (
    <>
      <DataTable
        label={t("security.browsers")}
        rows={rows}
        keyOf={(row) => row.id}
        columns={[
          {
            header: t("security.browser"),
            kind: "name",
            cell: (row) => (
              <>
                {nameOf(row.agent)} {row.here && <Badge tone="ok">{t("security.here")}</Badge>}
              </>
            ),
          },
          { header: t("security.address"), cell: (row) => row.address },
          { header: t("security.seen"), cell: (row) => relative(row.seen_at) },
          {
            header: t("people.actions"),
            kind: "actions",
            cell: (row) => (
              !row.here && (
                <Button
                  variant="default"
                  size="compact-xs"
                  aria-label={t("security.sign_out_one", { name: nameOf(row.agent) })}
                  onClick={() => end.mutate(row.id)}
                >
                  {t("security.sign_out")}
                </Button>
              )
            ),
          },
        ]}
      />
      <div className={styles.form}>
        <Button variant="default" disabled={rows.every((row) => row.here)} onClick={() => others.mutate(undefined)}>
          {t("security.others")}
        </Button>
      </div>
    </>
  );
}

/** A browser and its system as people call them; what is not known stays as it was sent. */
export function nameOf(agent: string): string {
  const browser = [/(Edg)\/(\d+)/, /(Firefox)\/(\d+)/, /(Chrome)\/(\d+)/, /(Safari)\/(\d+)/]
    .map((pattern) => pattern.exec(agent))
    .find((found) => found !== null);
  const system = /Windows|Mac OS X|Android|iPhone|iPad|CrOS|Linux/.exec(agent)?.[0];
  if (!browser) return agent || "?";
  return [`${browser[1] === "Edg" ? "Edge" : browser[1]} ${browser[2]}`, system].filter(Boolean).join(", ");
}
