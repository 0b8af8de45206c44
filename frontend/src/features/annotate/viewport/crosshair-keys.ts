/** The crosshair moved by arrow keys: faster the longer a key is held, one pixel at a time when tapped; pure. */

import type { Point } from "@/generated/vocabulary";
import type { Size } from "@/shared/markers/mapping";

const DIRECTIONS: Readonly<Record<string, Point>> = {
  ArrowLeft: { x: -1, y: 0 },
  ArrowRight: { x: 1, y: 0 },
  ArrowUp: { x: 0, y: -1 },
  ArrowDown: { x: 0, y: 1 },
};

export interface CrosshairState {
  readonly pixel: Point;
  /** How often the key has repeated without a pause. */
  readonly repeats: number;
}

export function isArrow(key: string): boolean {
  return key in DIRECTIONS;
}

/** How far (pixels) one key press moves: 8, with Shift 1, growing while the key repeats. */
export function stepLength(repeats: number, fine: boolean): number {
  if (fine) return 1;
  return Math.min(8 + repeats * 4, 64);
}

/** The crosshair after an arrow key; null for any other key. */
export function moveCrosshair(crosshair: CrosshairState, key: string, repeat: boolean, fine: boolean, picture: Size): CrosshairState | null {
  const direction = DIRECTIONS[key];
  if (direction === undefined) return null;
  const repeats = repeat ? crosshair.repeats + 1 : 0;
  const distance = stepLength(repeats, fine);
  return {
    repeats,
    pixel: {
      x: clamp(crosshair.pixel.x + direction.x * distance, picture.width),
      y: clamp(crosshair.pixel.y + direction.y * distance, picture.height),
    },
  };
}

/** The target that an arrow key jumps to: the one nearest in its direction, what lies aside counting twice; null where there is none. */
export function jumpTarget(from: Point, key: string, targets: readonly Point[]): Point | null {
  const direction = DIRECTIONS[key];
  if (direction === undefined) return null;
  const ahead = targets.flatMap((point) => {
    const [dx, dy] = [point.x - from.x, point.y - from.y];
    const along = dx * direction.x + dy * direction.y;
    const aside = Math.abs(dx * direction.y) + Math.abs(dy * direction.x);
    return along > 0 ? [{ point, distance: along + 2 * aside }] : [];
  });
  const [nearest] = ahead.toSorted((one, other) => one.distance - other.distance);
  return nearest?.point ?? null;
}

function clamp(value: number, size: number): number {
  return Math.min(Math.max(value, 0), size - 1);
}
