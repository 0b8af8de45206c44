/**
 * Keeps a live picture in an element: WebRTC, else VNC, else stills, each with a fresh ticket.
 *
 * A way that fails is left for the next one; from a lower one it tries to climb back to WebRTC beside the running
 * picture, which is only given up once the better one shows.
 */
import type { Connector, Listener, Measure, StreamKind, Surface, Ticket } from "./connector";

export interface StreamStatus extends Measure {
  readonly phase: "connecting" | "live";
  readonly kind: StreamKind;
  /** Why the last way ended; empty while nothing went wrong. */
  readonly problem: string;
}

interface AttachOptions {
  readonly ticket: (kind: StreamKind) => Promise<Ticket>;
  readonly connectors: Readonly<Record<StreamKind, Connector>>;
  readonly onStatus: (status: StreamStatus) => void;
  readonly onSurface: (surface: Surface | null) => void;
  /** The first way to try; the ones after it are the fallbacks. */
  readonly prefer?: StreamKind;
}

const FALLBACK_ORDER: readonly StreamKind[] = ["webrtc", "vnc", "stills"];
/** A way without a picture after this long (milliseconds) is given up. */
export const FIRST_PICTURE_LIMIT = 6_000;
export const UPGRADE_EVERY = 30_000;
const RETRY_DELAYS: readonly number[] = [0, 1_000, 2_000, 5_000, 10_000];

/** Attaches a stream to `host`; the function returned detaches it. */
export function attach(host: HTMLElement, options: AttachOptions): () => void {
  const attachment = new Attachment(host, options);
  attachment.start();
  return () => attachment.stop();
}

interface Attempt {
  readonly level: number;
  stop: () => void;
  live: boolean;
}

class Attachment {
  private current: Attempt | null = null;
  private upgrading: Attempt | null = null;
  private failures = 0;
  private stopped = false;
  private status: StreamStatus;
  private retry: ReturnType<typeof setTimeout> | undefined;
  private upgradeTimer: ReturnType<typeof setInterval> | undefined;
  private readonly top: number;

  constructor(
    private readonly host: HTMLElement,
    private readonly options: AttachOptions,
  ) {
    this.top = FALLBACK_ORDER.indexOf(options.prefer ?? "webrtc");
    this.status = { phase: "connecting", kind: kindAt(this.top), problem: "", fps: 0, latency: null };
  }

  start(): void {
    this.upgradeTimer = setInterval(() => this.tryUpgrade(), UPGRADE_EVERY);
    this.try(this.top);
  }

  stop(): void {
    this.stopped = true;
    clearTimeout(this.retry);
    clearInterval(this.upgradeTimer);
    this.current?.stop();
    this.upgrading?.stop();
    this.options.onSurface(null);
  }

  private try(level: number): void {
    this.report({ phase: "connecting", kind: kindAt(level), fps: 0, latency: null });
    this.current = this.begin(level, (attempt, reason) => {
      this.current = null;
      this.options.onSurface(null);
      this.next(attempt, reason);
    });
  }

  /** After a live picture the same way is tried once more; a way that never showed is left for the next. */
  private next(attempt: Attempt, reason: string): void {
    this.report({ problem: reason });
    if (this.stopped) return;
    const below = attempt.live ? attempt.level : attempt.level + 1;
    const level = below < FALLBACK_ORDER.length ? below : this.top;
    const pause = level === this.top ? (RETRY_DELAYS[Math.min(this.failures++, RETRY_DELAYS.length - 1)] ?? 0) : 0;
    this.retry = setTimeout(() => this.try(level), pause);
  }

  private tryUpgrade(): void {
    const { current } = this;
    if (current?.live !== true || current.level === this.top || this.upgrading !== null) return;
    this.upgrading = this.begin(this.top, () => {
      this.upgrading = null;
    });
  }

  /** Starts one way; `onEnd` is called once if it ends or shows nothing in time. */
  private begin(level: number, onEnd: (attempt: Attempt, reason: string) => void): Attempt {
    const attempt: Attempt = { level, live: false, stop: () => undefined };
    let over = false;
    let disconnect: () => void = () => undefined;
    const finish = (reason: string) => {
      if (over) return;
      over = true;
      clearTimeout(limit);
      onEnd(attempt, reason);
    };
    const limit = setTimeout(() => {
      disconnect();
      finish("no picture in time");
    }, FIRST_PICTURE_LIMIT);
    attempt.stop = () => {
      over = true;
      clearTimeout(limit);
      disconnect();
    };
    const listener: Listener = {
      onPicture: (surface) => {
        clearTimeout(limit);
        if (!over) this.show(attempt, surface);
      },
      onMeasure: (measure) => {
        if (this.current === attempt && attempt.live) this.report(measure);
      },
      onEnd: finish,
    };
    this.options
      .ticket(kindAt(level))
      .then((ticket) => {
        if (!over) disconnect = this.options.connectors[kindAt(level)](this.host, ticket, listener);
      })
      .catch((error: unknown) => finish(String(error))); // also of a browser that has no WebRTC
    return attempt;
  }

  private show(attempt: Attempt, surface: Surface): void {
    attempt.live = true;
    if (this.upgrading === attempt) {
      this.upgrading = null;
      this.current?.stop();
      this.current = attempt;
    }
    this.failures = 0;
    clearTimeout(this.retry);
    this.options.onSurface(surface);
    this.report({ phase: "live", kind: kindAt(attempt.level), problem: "" });
  }

  private report(change: Partial<StreamStatus>): void {
    if (this.stopped) return;
    this.status = { ...this.status, ...change };
    this.options.onStatus(this.status);
  }
}

function kindAt(level: number): StreamKind {
  return FALLBACK_ORDER[level] ?? "stills";
}
