/** Machines that ended while somebody had them. */

import type { Loss } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./machines.module.css";

const SHOWN = 20;

export function LossTable({ losses }: { losses: readonly Loss[] }) {
  const { t, moment } = useI18n();
  return (
    <DataTable
      rows={losses.slice(0, SHOWN)}
      keyOf={(loss) => `${loss.machine_id} ${loss.at}`}
      columns={[
        { head: t("machines.when"), kind: "name", cell: (loss) => moment(loss.at) },
        { head: t("machines.machine"), className: styles.name, cell: (loss) => loss.machine_id },
        { head: t("machines.holder"), cell: (loss) => loss.user || loss.holder },
        { head: t("machines.reason"), cell: (loss) => loss.reason },
      ]}
    />
  );
}
