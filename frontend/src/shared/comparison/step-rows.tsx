/** The steps of two attempts row by row: what each did, whether it is the same, and where they part. */
import { Split } from "lucide-react";
import { useEffect, useRef } from "react";

import type { AlignedSteps } from "@/generated/api";
import type { Step } from "@/generated/vocabulary";
import { describeAction } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";

import styles from "./comparison.module.css";

type Props = {
  pairs: readonly AlignedSteps[];
  divergence: number | null;
  one: readonly Step[];
  other: readonly Step[];
  current: number;
  onSelect: (row: number) => void;
};

export function StepRows({ pairs, divergence, one, other, current, onSelect }: Props) {
  const i18n = useI18n();
  const { t } = i18n;
  const list = useRef<HTMLOListElement>(null);
  useEffect(() => {
    const [room, row] = [list.current?.parentElement, list.current?.children[current]];
    if (room && row) scrollIntoView(room, row);
  }, [current]);
  const describe = (steps: readonly Step[], place: number | null) => {
    const step = place === null ? undefined : steps[place];
    return step ? describeAction(step.action, i18n) : "—";
  };
  return (
    <nav className={styles.rows} aria-label={t("compare.rows")}>
      <ol ref={list}>
        {pairs.map((pair, place) => (
          <li key={place}>
            <button
              type="button"
              className={styles.row}
              data-differs={!pair.same || undefined}
              aria-current={place === current ? "step" : undefined}
              onClick={() => onSelect(place)}
            >
              <span className={styles.number}>
                {place + 1}
                {place === divergence && <Split size={12} className={styles.divergence} role="img" aria-label={t("compare.diverge_here")} />}
              </span>
              <span>{describe(one, pair.one)}</span>
              <span className={styles.sign} role="img" aria-label={t(pair.same ? "compare.same_step" : "compare.differs")}>
                {pair.same ? "=" : "≠"}
              </span>
              <span>{describe(other, pair.other)}</span>
            </button>
          </li>
        ))}
      </ol>
    </nav>
  );
}

/** Scrolls the rows alone: on a narrow page they stand below the pictures, which are to stay in sight. */
function scrollIntoView(room: Element, row: Element) {
  const [outer, inner] = [room.getBoundingClientRect(), row.getBoundingClientRect()];
  if (inner.top < outer.top) room.scrollTop -= outer.top - inner.top;
  if (inner.bottom > outer.bottom) room.scrollTop += inner.bottom - outer.bottom;
}
