/** Machines that ended while somebody had them. */

import type { LostMachine } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";
import { DataTable } from "@/shared/ui/tables/data-table";

import styles from "./machines.module.css";

const MAX_ROWS = 20;

export function LossTable({ losses }: { losses: readonly LostMachine[] }) {
  const { t, moment } = useI18n();
  return (
    <DataTable
      rows={losses.slice(0, MAX_ROWS)}
      keyOf={(loss) => `${loss.machine_id} ${loss.at}`}
      columns={[
        { header: t("machines.when"), kind: "name", cell: (loss) => moment(loss.at) },
        { header: t("machines.machine"), className: styles.name, cell: (loss) => loss.machine_id },
        { header: t("machines.holder"), cell: (loss) => loss.user || loss.holder },
        { header: t("machines.reason"), cell: (loss) => loss.reason },
      ]}
    />
  );
}
