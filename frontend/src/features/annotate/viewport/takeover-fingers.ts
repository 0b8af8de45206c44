/**
 * Fingers during a takeover: what they mean to a machine that has a mouse; pure.
 *
 * A tap moves there and clicks, a second one close by clicks the same pixel again, and a long press clicks with the right
 * button. A finger that moves drags with the left button, at once. Two scroll the machine or zoom the view.
 */
import type { Point } from "@/generated/vocabulary";

import { Fingers, type FingerMove } from "./fingers";
import { COALESCE_MS, FINGER_SLACK } from "./gestures";

/** `place` is in CSS pixels of the page, `pixel` in those of the picture, `at` in milliseconds. */
export interface Touch {
  readonly id: number;
  readonly place: Point;
  readonly pixel: Point;
  readonly at: number;
}

export type FingerInput =
  | { readonly kind: "move"; readonly pixel: Point }
  | { readonly kind: "button"; readonly down: boolean; readonly button: "left" | "right"; readonly pixel: Point }
  /** How far the content goes on, in CSS pixels. */
  | { readonly kind: "scroll"; readonly dx: number; readonly dy: number; readonly pixel: Point }
  | { readonly kind: "zoom"; readonly move: Extract<FingerMove, { kind: "zoom" }> };

const NOTHING: readonly FingerInput[] = [];

export class TakeoverFingers {
  private readonly fingers = new Fingers();
  /** The one finger that may still tap, press or drag. */
  private one: (Touch & { readonly drags: boolean }) | null = null;
  private lastTap: Touch | null = null;

  /** Whether a finger lies still on the picture, so that a long press may come of it. */
  get isPressing(): boolean {
    return this.one?.drags === false;
  }

  down(touch: Touch): readonly FingerInput[] {
    this.fingers.down(touch.id, touch.place);
    const dropped = this.drop(touch.pixel);
    if (!this.fingers.isSeveral) this.one = { ...touch, drags: false };
    return dropped;
  }

  move({ id, place, pixel }: Touch): readonly FingerInput[] {
    const moved = this.fingers.move(id, place);
    if (moved?.kind === "zoom") return [{ kind: "zoom", move: moved }];
    if (moved?.kind === "scroll") return [{ kind: "scroll", dx: -moved.dx, dy: -moved.dy, pixel }];
    if (this.one?.id !== id || (!this.one.drags && isNear(place, this.one.place))) return NOTHING;
    const begun: readonly FingerInput[] = this.one.drags ? NOTHING : [{ kind: "button", down: true, button: "left", pixel: this.one.pixel }];
    this.one = { ...this.one, drags: true };
    return [...begun, { kind: "move", pixel }];
  }

  up(touch: Touch): readonly FingerInput[] {
    this.fingers.up(touch.id);
    const { one } = this;
    if (one?.id !== touch.id) return NOTHING;
    if (one.drags) return this.drop(touch.pixel);
    this.one = null;
    const again = this.lastTap !== null && touch.at - this.lastTap.at < COALESCE_MS && isNear(touch.place, this.lastTap.place);
    const pixel = again && this.lastTap !== null ? this.lastTap.pixel : one.pixel;
    this.lastTap = { ...touch, pixel };
    return click("left", pixel);
  }

  /** A finger that the browser has taken for itself. */
  cancel({ id, pixel }: Touch): readonly FingerInput[] {
    this.fingers.up(id);
    return this.drop(pixel);
  }

  /** It has lain still for the time of a long press. */
  held(): readonly FingerInput[] {
    if (this.one === null || this.one.drags) return NOTHING;
    const { pixel } = this.one;
    this.one = null;
    return click("right", pixel);
  }

  /** The one finger means nothing more; what it dragged is let go. */
  private drop(pixel: Point): readonly FingerInput[] {
    const dragged = this.one?.drags === true;
    this.one = null;
    return dragged ? [{ kind: "button", down: false, button: "left", pixel }] : NOTHING;
  }
}

const click = (button: "left" | "right", pixel: Point): readonly FingerInput[] =>
  [true, false].map((down) => ({ kind: "button", down, button, pixel }));

function isNear(one: Point, other: Point): boolean {
  return Math.hypot(one.x - other.x, one.y - other.y) <= FINGER_SLACK;
}
