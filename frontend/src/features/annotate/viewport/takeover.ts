/** During a takeover: inputs on their way to the machine, in order, moves at most one a picture frame. */

import { MAX_TEXT, type Button, type InputEvent, type Point } from "@/generated/vocabulary";

/** The longest batch the server takes. */
const MAX_BATCH = 64;

type Send = (inputs: InputEvent[]) => void;
type Schedule = (flush: () => void) => void;

/** Collects inputs in order and sends them once a frame; of moves that follow each other only the last counts. */
export class InputQueue {
  private queue: InputEvent[] = [];
  private scheduled = false;
  private readonly buttons = new Set<Button>();
  private connected = true;
  /** The inputs that release everything that was held when the connection was lost. */
  private owed: InputEvent[] = [];

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

  /** Inputs as they are; texts that follow each other are one, as far as the server takes it. */
  add(inputs: readonly InputEvent[]): void {
    for (const input of inputs) {
      const last = this.queue.at(-1);
      const joins = input.kind === "type_text" && last?.kind === "type_text" && last.text.length + input.text.length <= MAX_TEXT;
      if (joins) this.queue.splice(-1, 1, { kind: "type_text", text: last.text + input.text });
      else this.push(input);
    }
  }

  /** Whether a button is down there. */
  get holds(): boolean {
    return this.connected && this.buttons.size > 0;
  }

  /** What lets go of every button; from now on none is down. */
  takeReleases(): InputEvent[] {
    const inputs = [...this.buttons].map((button): InputEvent => ({ kind: "mouse_up", point: null, button }));
    this.buttons.clear();
    return inputs;
  }

  /** Nobody listens: what is done now must not happen later. `releases` let go of the keys that were held. */
  disconnect(releases: readonly InputEvent[]): void {
    this.owed.push(...this.takeReleases(), ...releases);
    this.queue = [];
    this.connected = false;
  }

  reconnect(): void {
    this.connected = true;
    this.add(this.owed);
    this.owed = [];
    this.flush();
  }

  flush(): void {
    this.scheduled = false;
    for (let at = 0; at < this.queue.length; at += MAX_BATCH) this.send(this.queue.slice(at, at + MAX_BATCH));
    this.queue = [];
  }

  private push(input: InputEvent): void {
    if (!this.connected) return;
    this.queue.push(input);
    if (this.scheduled) return;
    this.scheduled = true;
    this.schedule(() => this.flush());
  }
}

const ORDER: readonly Button[] = ["left", "middle", "right"];

/** The button of a mouse or pointer event, by its DOM number. */
export function buttonFromNumber(number: number): Button | null {
  return ORDER[number] ?? null;
}
