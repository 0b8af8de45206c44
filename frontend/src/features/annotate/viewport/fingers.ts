/** Fingers on the picture: two of them scroll the machine or zoom the view, and never do what one finger does. */

import type { Point } from "@/generated/vocabulary";

/** What two fingers did since the last event, in CSS pixels; `centre` is between them. */
export type FingerMove =
  | { readonly kind: "scroll"; readonly dx: number; readonly dy: number; readonly centre: Point }
  | { readonly kind: "zoom"; readonly dx: number; readonly dy: number; readonly centre: Point; readonly ratio: number };

/** How far two fingers go together, or apart, before it is known which of both is meant (CSS pixels). */
const DECIDED_PIXELS = 16;

interface Pair {
  readonly centre: Point;
  readonly distance: number;
}

export class Fingers {
  private readonly places = new Map<number, Point>();
  private several = false;
  private kind: FingerMove["kind"] | null = null;
  private last: Pair | null = null;

  /** Whether what the fingers do is of several: from the second one on until all are up. */
  get isSeveral(): boolean {
    return this.several;
  }

  down(id: number, place: Point): void {
    this.places.set(id, place);
    this.several ||= this.places.size > 1;
    this.kind = null;
    this.last = this.pair();
  }

  /** What this did; null while that is open, with one finger or with more than two. */
  move(id: number, place: Point): FingerMove | null {
    if (!this.places.has(id)) return null;
    this.places.set(id, place);
    const [now, before] = [this.pair(), this.last];
    if (now === null || before === null) return null;
    this.kind ??= kindOf(before, now);
    if (this.kind === null) return null;
    this.last = now;
    const way = { dx: now.centre.x - before.centre.x, dy: now.centre.y - before.centre.y, centre: now.centre };
    return this.kind === "scroll" ? { kind: "scroll", ...way } : { kind: "zoom", ...way, ratio: now.distance / before.distance };
  }

  /** A finger that is up, or that the browser has taken for itself. */
  up(id: number): void {
    this.places.delete(id);
    this.last = this.pair();
    if (this.places.size === 0) this.several = false;
  }

  private pair(): Pair | null {
    const [one, other, third] = [...this.places.values()];
    if (one === undefined || other === undefined || third !== undefined) return null;
    const centre = { x: (one.x + other.x) / 2, y: (one.y + other.y) / 2 };
    return { centre, distance: Math.max(1, Math.hypot(one.x - other.x, one.y - other.y)) };
  }
}

function kindOf(before: Pair, now: Pair): FingerMove["kind"] | null {
  if (Math.abs(now.distance - before.distance) >= DECIDED_PIXELS) return "zoom";
  const way = Math.hypot(now.centre.x - before.centre.x, now.centre.y - before.centre.y);
  return way >= DECIDED_PIXELS ? "scroll" : null;
}

/** How the picture is enlarged: `x` and `y` are where its corner is, in CSS pixels from where it was. */
export interface Zoom {
  readonly scale: number;
  readonly x: number;
  readonly y: number;
}

export const UNZOOMED: Zoom = { scale: 1, x: 0, y: 0 };
const MAX_SCALE = 4;
/** Closer to its own size than this, the picture has it. */
const SNAP_SCALE = 1.05;

/** The zoom after two fingers moved. `corner` is where the corner of the picture is now, `size` its size without zoom. */
export function zoomBy(zoom: Zoom, move: Extract<FingerMove, { kind: "zoom" }>, corner: Point, size: { width: number; height: number }): Zoom {
  const scale = Math.min(MAX_SCALE, zoom.scale * move.ratio);
  if (scale < SNAP_SCALE) return scale < 1 || move.ratio < 1 ? UNZOOMED : { ...zoom, scale };
  const ratio = scale / zoom.scale;
  const axis = (at: number, far: number, start: number, from: number, length: number) =>
    Math.min(0, Math.max(length * (1 - scale), from + far + (1 - ratio) * (at - far - start)));
  return {
    scale,
    x: axis(move.centre.x, move.dx, corner.x, zoom.x, size.width),
    y: axis(move.centre.y, move.dy, corner.y, zoom.y, size.height),
  };
}
