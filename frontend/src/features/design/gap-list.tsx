/** The cells that lack attempts, the most wanted first. */
import type { DesignPage } from "@/generated/api";
import { useI18n } from "@/shared/i18n/i18n";

import type { CellSelection } from "./api";
import styles from "./design.module.css";
import { treeRows } from "./tree";

const MAX_GAPS = 8;
const NONE: ReadonlySet<number> = new Set();

export function GapList({ design, onSelect }: { design: DesignPage; onSelect: (selection: CellSelection) => void }) {
  const { t, percent } = useI18n();
  const paths = new Map(treeRows(design.nodes, NONE).map(({ node, path }) => [node.id, path]));
  return (
    <ol className={styles.gaps}>
      {design.gaps.slice(0, MAX_GAPS).map(({ node, level, score }) => {
        const cell = design.nodes.find(({ id }) => id === node)?.cells.find((one) => one.level === level);
        return (
          <li key={`${node} ${level}`}>
            <button type="button" className={styles.gap} onClick={() => onSelect({ node, level })}>
              <span>
                {paths.get(node)} · {t("design.level", { level })}
              </span>
              <span className={styles.note}>
                {t("design.gap", { accepted: cell?.accepted ?? 0, wanted: design.wanted, tasks: cell?.tasks ?? 0 })} ·{" "}
                {percent(score)}
              </span>
            </button>
          </li>
        );
      })}
    </ol>
  );
}
