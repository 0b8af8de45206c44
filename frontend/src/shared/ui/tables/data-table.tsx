/** A table of what there is of one kind: where there is no room for its columns, each row is a card with the heads beside the values. */
/* oxlint-disable jsx-a11y/no-redundant-roles, jsx-a11y/no-interactive-element-to-noninteractive-role -- the roles are said: laid out as cards, a table is no table to some browsers */
import { ActionIcon, VisuallyHidden } from "@mantine/core";
import { ChevronDown } from "lucide-react";
import { Fragment, useId, useState, type Key, type ReactNode } from "react";

import { useI18n } from "@/shared/i18n/i18n";

import styles from "./data-table.module.css";

export interface Column<Row> {
  readonly header: string;
  readonly cell: (row: Row) => ReactNode;
  /** What the row is, a figure, a box to tick, or what can be done with it; a plain text without one. */
  readonly kind?: "name" | "number" | "mark" | "actions";
  /** What the head means. */
  readonly help?: string;
  /** The value in full, where the cell shortens it. */
  readonly fullText?: (row: Row) => string | undefined;
  readonly className?: string | undefined;
}

/** What a row shows when it is opened, one row at a time. */
export interface Details<Row> {
  readonly body: (row: Row) => ReactNode;
  /** The name of the button of a row, and of the column of all of them. */
  readonly ariaLabel: (row: Row) => string;
  readonly header: string;
  /** Rows that have nothing to open say no. */
  readonly hasDetails?: (row: Row) => boolean;
}

interface Props<Row> {
  readonly rows: readonly Row[];
  readonly keyOf: (row: Row) => Key;
  readonly columns: readonly Column<Row>[];
  readonly label?: string | undefined;
  readonly details?: Details<Row> | undefined;
}

/** Columns whose head is for ears only: what is in them speaks for itself. */
const HEADERLESS = new Set(["mark", "actions"]);

export function DataTable<Row>({ rows, keyOf, columns, label, details }: Props<Row>) {
  const [opened, setOpened] = useState<Key | null>(null);
  const id = useId();
  const all: readonly Column<Row>[] = details
    ? [
        ...columns,
        {
          header: details.header,
          kind: "actions",
          cell: (row) =>
            (details.hasDetails?.(row) ?? true) && (
              <DetailsToggle
                ariaLabel={details.ariaLabel(row)}
                opens={id}
                open={opened === keyOf(row)}
                onToggle={() => setOpened(opened === keyOf(row) ? null : keyOf(row))}
              />
            ),
        },
      ]
    : columns;
  return (
    <div className={styles.frame}>
      <table className={styles.table} role="table" aria-label={label}>
        <thead role="rowgroup">
          <tr role="row">
            {all.map(({ header, kind, help }, place) => (
              <th key={place} role="columnheader" scope="col" data-kind={kind} title={help}>
                {kind && HEADERLESS.has(kind) ? <VisuallyHidden>{header}</VisuallyHidden> : header}
              </th>
            ))}
          </tr>
        </thead>
        <tbody role="rowgroup">
          {rows.map((row) => (
            <Fragment key={keyOf(row)}>
              <tr role="row">
                {all.map((column, place) => (
                  <Cell key={place} column={column} row={row} />
                ))}
              </tr>
              {details && opened === keyOf(row) && (
                <tr role="row" id={id} className={styles.opened}>
                  <td role="cell" colSpan={all.length}>
                    {details.body(row)}
                  </td>
                </tr>
              )}
            </Fragment>
          ))}
        </tbody>
      </table>
    </div>
  );
}

function Cell<Row>({ column: { header, cell, kind, fullText, className }, row }: { column: Column<Row>; row: Row }) {
  const { number } = useI18n();
  const value = cell(row);
  const body = kind === "number" && typeof value === "number" ? number(value) : value;
  return (
    <td role="cell" data-kind={kind} data-head={header} title={fullText?.(row)} className={className}>
      {kind === "actions" ? <div className={styles.actions}>{body}</div> : body}
    </td>
  );
}

type DetailsToggleProps = { ariaLabel: string; opens: string; open: boolean; onToggle: () => void };

function DetailsToggle({ ariaLabel, opens, open, onToggle }: DetailsToggleProps) {
  return (
    <ActionIcon
      variant="subtle"
      color="gray"
      size="sm"
      aria-label={ariaLabel}
      title={ariaLabel}
      aria-expanded={open}
      aria-controls={open ? opens : undefined}
      onClick={onToggle}
    >
      <ChevronDown size={16} className={styles.chevron} data-open={open || undefined} aria-hidden />
    </ActionIcon>
  );
}
