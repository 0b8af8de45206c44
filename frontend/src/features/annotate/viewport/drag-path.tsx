/** A drag along several points that a person builds point by point; it waits in the draft until Enter. */
import { useState } from "react";

import type { Point } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import styles from "./viewport.module.css";

/** Most points of a drag. */
const MAX_POINTS = 64;

export interface DragPath {
  /** The points so far; null while no such drag is being built at the present step. */
  readonly points: readonly Point[] | null;
  readonly begin: (at: Point | null) => void;
  readonly add: (point: Point) => void;
}

export function useDragPath(): DragPath {
  const { episode, composePart } = useWorkspace();
  const step = episode.steps.length;
  const [path, setPath] = useState<{ points: readonly Point[]; step: number } | null>(null);
  const points = path?.step === step ? path.points : null;
  return {
    points,
    begin: (at) => setPath(at === null ? null : { points: [at], step }),
    add: (point) => {
      if (points === null || points.length >= MAX_POINTS) return;
      const all = [...points, point];
      setPath({ points: all, step });
      composePart({ kind: "drag_path", points: all, button: "left", keys: [] });
    },
  };
}

/** Says how the drag goes on. */
export function DragPathHint({ points }: Pick<DragPath, "points">) {
  const { t } = useI18n();
  return points === null ? null : <span className={styles.hint} role="status">{t("viewport.path_to", { count: points.length })}</span>;
}
