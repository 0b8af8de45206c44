/** Points of an action that are moved on the picture itself: a press takes the nearest one, which follows the pointer. */
import { useRef, type PointerEvent } from "react";

import type { Point } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { nearestPixel, type Size } from "@/shared/markers/mapping";

import styles from "./frame.module.css";

type Props = {
  /** In pixels of the picture. */
  points: readonly Point[];
  picture: Size;
  displaySize: Size;
  onMove: (index: number, to: Point) => void;
};

export function PointHandles({ points, picture, displaySize, onMove }: Props) {
  const { t } = useI18n();
  const held = useRef<number | null>(null);
  const placeOf = (event: PointerEvent<HTMLElement>) => {
    const { left, top } = event.currentTarget.getBoundingClientRect();
    return nearestPixel({ x: event.clientX - left, y: event.clientY - top }, { ...displaySize, left: 0, top: 0 }, picture);
  };
  if (points.length === 0) return null;
  return (
    // oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the picture is worked on with the pointer
    <div
      className={styles.handles}
      role="application"
      aria-label={t("review.correct.points")}
      // The form that is written beside the picture keeps the focus, and its keys.
      onMouseDown={(event) => event.preventDefault()}
      onPointerDown={(event) => {
        if (event.button !== 0) return;
        event.currentTarget.setPointerCapture(event.pointerId);
        const place = placeOf(event);
        held.current = nearestIndex(points, place);
        onMove(held.current, place);
      }}
      onPointerMove={(event) => held.current !== null && onMove(held.current, placeOf(event))}
      onPointerUp={() => (held.current = null)}
      onPointerCancel={() => (held.current = null)}
    />
  );
}

export function nearestIndex(points: readonly Point[], to: Point): number {
  const distances = points.map(({ x, y }) => Math.hypot(x - to.x, y - to.y));
  return distances.indexOf(Math.min(...distances));
}
