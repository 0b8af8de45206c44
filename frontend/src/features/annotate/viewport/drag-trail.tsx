/** The arrow of a drag or swipe while the button is still down: where it began and where it would end. */
import type { Point } from "@/generated/vocabulary";
import { MarkerShape } from "@/shared/markers/marker-shape";
import { toDisplay, type Size } from "@/shared/markers/mapping";

import styles from "./drag-trail.module.css";

export interface Trail {
  readonly from: Point;
  readonly to: Point;
}

export function DragTrail({ trail, picture, displaySize }: { trail: Trail; picture: Size; displaySize: Size }) {
  const place = (point: Point) => toDisplay(point, displaySize, picture);
  return (
    <svg className={styles.trail} width={displaySize.width} height={displaySize.height} aria-hidden>
      <MarkerShape marker={{ shape: "arrow", from: place(trail.from), to: place(trail.to) }} />
    </svg>
  );
}
