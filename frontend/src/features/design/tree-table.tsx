/** The graph as a tree with its cells: accepted attempts of those wanted, by level of difficulty. Walked by keys. */
import { ChevronDown, ChevronRight } from "lucide-react";
import { useMemo, useRef, useState, type KeyboardEvent } from "react";

import type { DesignPage, NodeOut } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import { LEVELS, type CellSelection } from "./api";
import styles from "./design.module.css";
import { treeRows, moveSelection, MOVES } from "./tree";

type Props = { readonly design: DesignPage; readonly selection: CellSelection; readonly onSelect: (selection: CellSelection) => void };

export function TreeTable({ design: { nodes, wanted }, selection, onSelect }: Props) {
  const { t, percent } = useI18n();
  const [closed, setClosed] = useState<ReadonlySet<number>>(new Set());
  const rows = useMemo(() => treeRows(nodes, closed), [nodes, closed]);
  const table = useRef<HTMLTableElement>(null);
  const at = rows.some(({ node }) => node.id === selection.node) ? selection.node : (rows[0]?.node.id ?? null);

  const toggle = (id: number) =>
    setClosed((before) => {
      const after = new Set(before);
      if (!after.delete(id)) after.add(id);
      return after;
    });
  const onKeyDown = (event: KeyboardEvent) => {
    const move = MOVES[event.key];
    if (move === undefined || at === null || event.altKey || event.ctrlKey || event.metaKey) return;
    event.preventDefault();
    const { node, toggled } = moveSelection(rows, at, move, closed);
    if (toggled) toggle(node);
    onSelect({ node, level: selection.level });
    table.current?.querySelector<HTMLElement>(`[data-node="${node}"]`)?.focus();
  };

  return (
    <div className={styles.scroll}>
      {/* A tree of rows with columns: what ARIA's own pattern makes of a table (Authoring Practices, Treegrid). */}
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-to-interactive-role */}
      <table ref={table} className={styles.tree} role="treegrid" aria-label={t("design.graph")} onKeyDown={onKeyDown}>
        <thead>
          <tr>
            <th scope="col">{t("design.node")}</th>
            <th scope="col" className={styles.number}>
              {t("design.weight")}
            </th>
            <th scope="col" className={styles.number}>
              {t("design.importance")}
            </th>
            {LEVELS.map((level) => (
              <th key={level} scope="col" className={styles.level}>
                <abbr title={t("design.level", { level })}>{level}</abbr>
              </th>
            ))}
          </tr>
        </thead>
        <tbody>
          {rows.map(({ node, depth, branches, path }) => (
            <tr
              key={node.id}
              data-node={node.id}
              tabIndex={node.id === at ? 0 : -1}
              aria-level={depth + 1}
              aria-expanded={branches ? !closed.has(node.id) : undefined}
              aria-selected={node.id === selection.node}
              onFocus={(event) => {
                if (event.target === event.currentTarget && node.id !== selection.node) onSelect({ node: node.id, level: null });
              }}
              onClick={() => onSelect({ node: node.id, level: null })}
            >
              <td className={styles.name} style={{ paddingInlineStart: `${12 + depth * 18}px` }}>
                <div className={styles.label}>
                  {branches ? (
                    <button
                      type="button"
                      tabIndex={-1}
                      className={styles.twist}
                      aria-label={t(closed.has(node.id) ? "design.open" : "design.close", { name: node.name })}
                      onClick={(event) => {
                        event.stopPropagation();
                        toggle(node.id);
                      }}
                    >
                      {closed.has(node.id) ? <ChevronRight size={14} /> : <ChevronDown size={14} />}
                    </button>
                  ) : (
                    <span className={styles.twist} />
                  )}
                  <span title={path}>{node.name}</span>
                </div>
              </td>
              <td className={styles.number}>{percent(node.weight, node.weight < 0.01 ? 1 : 0)}</td>
              <td className={styles.number}>
                <ImportanceText node={node} />
              </td>
              {LEVELS.map((level) => (
                <td key={level} className={styles.level}>
                  <CellButton node={node} level={level} wanted={wanted} selection={selection} onSelect={onSelect} />
                </td>
              ))}
            </tr>
          ))}
        </tbody>
      </table>
    </div>
  );
}

/** The importance, and whether it was typed or what it follows from. */
function ImportanceText({ node: { importance, measures, measured_by } }: { node: NodeOut }) {
  const { t, number } = useI18n();
  const source = measured_by ? ` (${measured_by})` : "";
  return measures ? (
    <span title={t("design.measured.of", { ...measures }) + source}>{number(importance, 1)}</span>
  ) : (
    <>
      {number(importance, 1)} <span className={styles.note}>{t("design.typed")}</span>
    </>
  );
}

type CellProps = { node: NodeOut; level: number; wanted: number; selection: CellSelection; onSelect: (selection: CellSelection) => void };

/** Says in figures what its shade says: how many attempts are accepted, at how many tasks. */
function CellButton({ node, level, wanted, selection, onSelect }: CellProps) {
  const { t } = useI18n();
  const cell = node.cells.find((one) => one.level === level);
  if (!cell) return <span className={styles.nothing}>–</span>;
  const label = t("design.cell", { ...cell, name: node.name });
  return (
    <button
      type="button"
      tabIndex={-1}
      className={styles.cell}
      title={label}
      aria-label={`${cell.accepted}/${cell.tasks}: ${label}`}
      aria-pressed={selection.node === node.id && selection.level === level}
      data-full={cell.accepted >= wanted || undefined}
      onClick={(event) => {
        event.stopPropagation();
        onSelect({ node: node.id, level });
      }}
    >
      {cell.accepted}/{cell.tasks}
    </button>
  );
}
