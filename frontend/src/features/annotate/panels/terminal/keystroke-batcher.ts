/** Keys typed straight into a terminal: those of one burst become one act, as soon as the last act is done. */

/** A pause of this length (milliseconds) ends a burst. */
export const PAUSE = 400;
/** Longest text of one act (characters); what lies beyond waits for the next one. */
const MAX_LENGTH = 4_000;

export class KeystrokeBatcher {
  private waiting = "";
  private busy = false;
  private timer: ReturnType<typeof setTimeout> | undefined;

  /** `send` does one burst and says whether it was taken; what was not taken is kept for the next key. */
  constructor(private readonly send: (text: string) => boolean) {}

  push(text: string): void {
    this.waiting += text;
    this.restartTimer();
  }

  /** An act runs, so what is typed meanwhile waits; or it is done. */
  setBusy(busy: boolean): void {
    this.busy = busy;
    if (!busy && this.waiting !== "") this.restartTimer();
  }

  /** Forgets what waits. */
  drop(): void {
    clearTimeout(this.timer);
    this.waiting = "";
  }

  private restartTimer(): void {
    clearTimeout(this.timer);
    this.timer = setTimeout(() => this.flush(), PAUSE);
  }

  private flush(): void {
    if (this.busy || this.waiting === "") return;
    const text = this.waiting.slice(0, MAX_LENGTH);
    if (!this.send(text)) return;
    this.waiting = this.waiting.slice(text.length);
    this.busy = true;
  }
}
