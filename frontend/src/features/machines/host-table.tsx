/** Places that make machines: how full they are, and whether they are being emptied. */
import { Button } from "@mantine/core";

import type { HostInfo } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { DataTable } from "@/shared/ui/tables/data-table";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./machines.module.css";

export function HostTable({ hosts }: { hosts: readonly HostInfo[] }) {
  const { t, relative } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <DataTable
        rows={hosts}
        keyOf={(host) => host.id}
        columns={[
          {
            header: t("machines.host"),
            kind: "name",
            cell: (host) => (
              <>
                <strong className={styles.name}>{host.id}</strong>
                <div className={styles.note}>{host.url}</div>
                <Bounds host={host} />
              </>
            ),
          },
          { header: t("machines.images"), cell: (host) => host.images.join(", ") },
          {
            header: t("machines.capacity"),
            kind: "number",
            cell: (host) => t("machines.of", { count: host.machines, most: host.capacity }),
          },
          { header: t("machines.last_seen"), kind: "number", cell: (host) => relative(host.last_seen) },
          {
            header: t("machines.draining"),
            kind: "actions",
            cell: (host) => (
              <>
                {host.draining && <Badge tone="warn">{t("machines.draining")}</Badge>}
                <Button
                  variant="default"
                  size="compact-xs"
                  loading={change.isPending}
                  onClick={() => change.mutate({ type: "drain", host: host.id, draining: !host.draining })}
                >
                  {t(host.draining ? "machines.undrain" : "machines.drain")}
                </Button>
              </>
            ),
          },
        ]}
      />
    </>
  );
}

/** What its machines may take without a bound; nothing where everything is bounded. */
function Bounds({ host }: { host: HostInfo }) {
  const { t, language } = useI18n();
  if (host.unbounded?.length === 0) return null;
  const named = host.unbounded?.map((one) => t(`machines.unbounded.${one}`));
  return (
    <div className={styles.note}>
      {named === undefined
        ? t("machines.unbounded.unknown")
        : t("machines.unbounded", { what: new Intl.ListFormat(language).format(named) })}
    </div>
  );
}
