/** Places that make machines: how full they are, and whether they are being emptied. */
import { Button, Table } from "@mantine/core";

import type { HostInfo } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { Badge } from "@/shared/ui/badge";
import { Problem } from "@/shared/ui/problem";

import { useChange } from "./api";
import styles from "./machines.module.css";

export function HostTable({ hosts }: { hosts: readonly HostInfo[] }) {
  const { t, relative } = useI18n();
  const change = useChange();
  return (
    <>
      <Problem error={change.error} />
      <Table className={styles.table}>
        <Table.Thead>
          <Table.Tr>
            <Table.Th>{t("machines.host")}</Table.Th>
            <Table.Th>{t("machines.images")}</Table.Th>
            <Table.Th className={styles.number}>{t("machines.capacity")}</Table.Th>
            <Table.Th className={styles.number}>{t("machines.last_seen")}</Table.Th>
            <Table.Th className={styles.number}>{t("machines.draining")}</Table.Th>
          </Table.Tr>
        </Table.Thead>
        <Table.Tbody>
          {hosts.map((host) => (
            <Table.Tr key={host.id}>
              <Table.Td>
                <strong className={styles.name}>{host.id}</strong>
                <div className={styles.note}>{host.url}</div>
                <Bounds host={host} />
              </Table.Td>
              <Table.Td>{host.images.join(", ")}</Table.Td>
              <Table.Td className={styles.number}>{t("machines.of", { count: host.machines, most: host.capacity })}</Table.Td>
              <Table.Td className={styles.number}>{relative(host.last_seen)}</Table.Td>
              <Table.Td className={styles.actions}>
                {host.draining && <Badge tone="warn">{t("machines.draining")}</Badge>}
                <Button
                  variant="default"
                  size="compact-xs"
                  loading={change.isPending}
                  onClick={() => change.mutate({ do: "drain", host: host.id, draining: !host.draining })}
                >
                  {t(host.draining ? "machines.undrain" : "machines.drain")}
                </Button>
              </Table.Td>
            </Table.Tr>
          ))}
        </Table.Tbody>
      </Table>
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
