/** Markers over a picture: numbered candidates, the step being composed, the act that runs, what a step did. */
import type { Action, Point } from "@/generated/vocabulary";

import { toDisplay, type Size } from "./mapping";
import { anchorOf, BADGE_STEP, markerOf, spread, type Marker } from "./marker";
import { MarkerShape } from "./marker-shape";
import styles from "./marker-layer.module.css";

type MarkTone = "candidate" | "draft" | "pending" | "done";

export interface Mark {
  readonly key: string;
  readonly action: Action;
  readonly tone: MarkTone;
  /** The number of a candidate, shown in its badge. */
  readonly number?: number;
  /** Drawn back because another one is looked at. */
  readonly dim?: boolean;
}

interface Props {
  readonly marks: readonly Mark[];
  readonly picture: Size;
  /** Size of the picture on the page (CSS pixels). */
  readonly displaySize: Size;
  /** Where text lands that names no place. */
  readonly focus: Point | null;
}

export function MarkerLayer({ marks, picture, displaySize, focus }: Props) {
  const centre = { x: picture.width / 2, y: picture.height / 2 };
  const placed = marks.flatMap((mark) => {
    const marker = markerOf(mark.action);
    return marker === null ? [] : [{ mark, marker: scaleMarker(marker, focus ?? centre, displaySize, picture) }];
  });
  const anchors = placed.map(({ marker }) => anchorOf(marker, { x: 0, y: 0 }));
  const moved = spread(anchors);
  if (displaySize.width <= 0) return null;
  return (
    <svg className={styles.layer} width={displaySize.width} height={displaySize.height} aria-hidden>
      {placed.map(({ mark, marker }, index) => (
        <g key={mark.key} className={styles.mark} data-tone={mark.tone} data-dim={mark.dim === true || undefined}>
          {!isCovered(index, placed) && <MarkerShape marker={marker} row={(moved[index]?.x ?? 0) / BADGE_STEP} />}
          {mark.number !== undefined && <Badge at={anchors[index]} moved={moved[index]} number={mark.number} displaySize={displaySize} />}
        </g>
      ))}
    </svg>
  );
}

/** Rings closer than this (CSS pixels) are drawn once. */
const SAME_PLACE = 8;

/** Whether a candidate's ring is drawn already: several around one place would hide it. The one that is looked at is always drawn. */
function isCovered(index: number, placed: readonly { readonly mark: Mark; readonly marker: Marker }[]): boolean {
  const own = placed[index];
  if (own?.mark.tone !== "candidate" || own.marker.shape !== "ring") return false;
  const at = anchorOf(own.marker, { x: 0, y: 0 });
  return placed.slice(0, index).some(({ mark, marker }) => {
    const other = anchorOf(marker, { x: 0, y: 0 });
    const alike = mark.tone === "candidate" && marker.shape === "ring" && mark.dim === own.mark.dim;
    return alike && Math.hypot(other.x - at.x, other.y - at.y) < SAME_PLACE;
  });
}

interface BadgeProps {
  readonly at: Point | undefined;
  readonly moved: Point | undefined;
  readonly number: number;
  readonly displaySize: Size;
}

/** Beside the marker, and inside the picture even where the marker is at its border. */
function Badge({ at = { x: 0, y: 0 }, moved = { x: 0, y: 0 }, number, displaySize }: BadgeProps) {
  const x = Math.min(at.x + 18 + moved.x, displaySize.width - 10);
  const y = Math.max(at.y - 18 + moved.y, 10);
  return (
    <g transform={`translate(${x} ${y})`} className={styles.badge}>
      <circle r={9} />
      <text dy="0.36em">{number}</text>
    </g>
  );
}

/** The marker in CSS pixels, with every place filled in. */
function scaleMarker(marker: Marker, fallback: Point, displaySize: Size, picture: Size): Marker {
  const place = (point: Point) => toDisplay(point, displaySize, picture);
  switch (marker.shape) {
    case "arrow":
      return { ...marker, from: place(marker.from), to: place(marker.to) };
    case "path":
      return { ...marker, points: marker.points.map(place) };
    case "caret":
      return { ...marker, at: place(fallback) };
    default:
      return { ...marker, at: place(marker.at ?? fallback) };
  }
}
