/** During a takeover: raw pointer and keys become primitive inputs, moves at most one a picture frame. */

import type { Button, InputEvent, Point } from "@/generated/vocabulary";
import { KEY_NAMES } from "@/generated/vocabulary";
import { canonicalKey, pressedKey, type KeyPress } from "@/shared/actions/keys";

/** The longest batch the server takes. */
const MAX_BATCH = 64;
/** Two presses of Escape within this time (milliseconds) are the way out. */
export const DOUBLE_ESCAPE_MS = 400;

type Send = (inputs: InputEvent[]) => void;
type Schedule = (flush: () => void) => void;

/** Collects inputs in order and sends them once a frame; of moves that follow each other only the last counts. */
export class InputQueue {
  private queue: InputEvent[] = [];
  private scheduled = false;
  private readonly keys = new Set<string>();
  private readonly buttons = new Set<Button>();

  constructor(
    private readonly send: Send,
    private readonly schedule: Schedule = (flush) => requestAnimationFrame(flush),
  ) {}

  move(point: Point): void {
    if (this.queue.at(-1)?.kind === "move_to") this.queue.pop();
    this.push({ kind: "move_to", ...point });
  }

  button(down: boolean, button: Button, point: Point): void {
    if (down) this.buttons.add(button);
    else this.buttons.delete(button);
    this.push({ kind: down ? "mouse_down" : "mouse_up", point, button });
  }

  scroll(point: Point, direction: "up" | "down" | "left" | "right", amount: number): void {
    this.push({ kind: "scroll", point, direction, amount });
  }

  /** A key that is already down goes down once: the machine repeats by itself. */
  key(down: boolean, key: string): void {
    if (down === this.keys.has(key)) return;
    if (down) this.keys.add(key);
    else this.keys.delete(key);
    this.push({ kind: down ? "press" : "release", key });
  }

  /** Lets go of everything held: when the page loses the focus, and at the end. */
  releaseAll(): void {
    for (const key of [...this.keys]) this.key(false, key);
    for (const button of [...this.buttons]) {
      this.buttons.delete(button);
      this.push({ kind: "mouse_up", point: null, button });
    }
    this.flush();
  }

  flush(): void {
    this.scheduled = false;
    for (let at = 0; at < this.queue.length; at += MAX_BATCH) this.send(this.queue.slice(at, at + MAX_BATCH));
    this.queue = [];
  }

  private push(input: InputEvent): void {
    this.queue.push(input);
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => this.flush());
  }
}

const SHIFTED = new Set<string>(KEY_NAMES.filter((name) => name.length === 1 && !/[a-z0-9]/.test(name)));

/** The key that goes down: with Shift held it is the one under the finger, since Shift goes down by itself. */
export function rawKey(event: KeyPress): string | null {
  const printed = pressedKey(event);
  if (event.shiftKey && printed !== null && SHIFTED.has(printed)) return canonicalKey(event.code) ?? printed;
  return printed;
}

const ORDER: readonly Button[] = ["left", "middle", "right"];

/** The button of a mouse or pointer event, by its DOM number. */
export function buttonFromNumber(number: number): Button | null {
  return ORDER[number] ?? null;
}
