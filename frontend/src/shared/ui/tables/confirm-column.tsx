/** A column whose only action asks for confirmation. */
import { ConfirmButton } from "@/shared/ui/confirm-button";

import type { Column } from "./data-table";

type Options<Row> = {
  readonly header: string;
  readonly label: string;
  /** The name of a row's button. */
  readonly ariaLabel: (row: Row) => string;
  /** What will be lost. */
  readonly confirmation: (row: Row) => string;
  readonly onConfirm: (row: Row) => Promise<unknown>;
};

export function confirmColumn<Row>({ header, label, ariaLabel, confirmation, onConfirm }: Options<Row>): Column<Row> {
  return {
    header,
    kind: "actions",
    cell: (row) => (
      <ConfirmButton label={label} ariaLabel={ariaLabel(row)} confirmation={confirmation(row)} onConfirm={() => onConfirm(row)} />
    ),
  };
}
