/**
 * The one WebSocket of an episode: commands up, events down.
 *
 * Commands stay in the outbox until the server answers. They are resent under their `command_id` after a reconnect,
 * when control comes back to this page, and when an answer takes too long; the server answers a repeat from its record.
 * Commands that found no room are sent again in order, a few at a time; later ones wait behind them.
 * Silence, a wake-up and a returning network all lead to one reconnect. Before that, a ping without an answer makes the page offline.
 */
import type { Command, Control, Event } from "@/generated/vocabulary";

import { delay, type Backoff } from "./backoff";
import { isOverloaded, isFull, enqueue, settle, split, withoutStaleInputs, type IdentifiedCommand, type Outbox } from "./outbox";

type Phase = "connecting" | "online" | "offline" | "signed_out" | "forbidden" | "missing" | "closed";

export interface Connection {
  readonly phase: Phase;
  /** Round trip (milliseconds), null until measured. */
  readonly latency: number | null;
  /** When the next attempt is due (milliseconds since the epoch), null while none is planned. */
  readonly retryAt: number | null;
  /** Commands not answered yet; `held` are too old to be sent without a person's word. */
  readonly waiting: Outbox;
  readonly held: Outbox;
}

/** What the socket needs of a WebSocket; the browser's own fits. */
export interface Wire {
  onopen: (() => void) | null;
  onmessage: ((message: { data: unknown }) => void) | null;
  onclose: ((reason: { code: number }) => void) | null;
  send(text: string): void;
  close(): void;
}

interface SocketOptions {
  readonly url: string;
  readonly open: (url: string) => Wire;
  readonly onEvent: (event: Event) => void;
  readonly onConnection: (connection: Connection) => void;
  readonly outbox?: Outbox;
  readonly onOutbox?: (outbox: Outbox) => void;
  readonly now?: () => number;
}

const TERMINAL_PHASES: Readonly<Record<number, Phase>> = { 4401: "signed_out", 4403: "forbidden", 4404: "missing" };
const FLOODING = 4429;
const BACKOFF: Backoff = { base: 250, cap: 10_000 };
const FLOODING_BACKOFF: Backoff = { base: 5_000, cap: 30_000 };
export const PING_EVERY_MS = 2_000;
/** Without an answer for so long (milliseconds) the page counts as offline, though the connection may still come back. */
export const ANSWER_LIMIT_MS = 4_000;
export const SILENCE_LIMIT_MS = 12_000;
/** A command without an answer is sent again after so long (milliseconds): the process that took it may have died. */
export const RESEND_AFTER_MS = 15_000;

/** So long after a refusal for lack of room (milliseconds) so many commands are sent again at a time. */
export const THROTTLE_PAUSE_MS = 500;
export const THROTTLE_BATCH = 16;

export class EpisodeSocket {
  private wire: Wire | null = null;
  private phase: Phase = "connecting";
  private latency: number | null = null;
  private retryAt: number | null = null;
  private attempt = 0;
  private lastReceivedAt = 0;
  private outbox: Outbox;
  private held: Outbox = [];
  private control: Control | null = null;
  /** When each waiting command was sent last (milliseconds since the epoch). */
  private readonly sentAt = new Map<string, number>();
  /** While commands are sent a few at a time: the ids of the last few. */
  private throttledIds: ReadonlySet<string> | null = null;
  private throttleTimer: ReturnType<typeof setTimeout> | undefined;
  private retryTimer: ReturnType<typeof setTimeout> | undefined;
  private pingTimer: ReturnType<typeof setInterval> | undefined;
  /** Whether the wire is open; it may be so without an answer. */
  private opened = false;
  /** Since when a ping waits for any answer (milliseconds since the epoch). */
  private unansweredSince: number | null = null;
  private readonly now: () => number;

  constructor(private readonly options: SocketOptions) {
    this.now = options.now ?? Date.now;
    const { fresh, held } = split(withoutStaleInputs(options.outbox ?? [], this.now()), this.now());
    this.outbox = fresh;
    this.held = held;
  }

  /** Connects now, unless connected; also called when the network or the tab comes back. */
  connect(): void {
    if (this.wire !== null) {
      this.ping();
      return;
    }
    clearTimeout(this.retryTimer);
    this.retryAt = null;
    this.phase = this.attempt > 0 ? "offline" : "connecting";
    const wire = this.options.open(this.options.url);
    this.wire = wire;
    wire.onopen = () => this.handleOpen();
    wire.onmessage = ({ data }) => this.handleMessage(data);
    wire.onclose = ({ code }) => {
      if (this.wire === wire) this.handleLoss(code);
    };
    this.lastReceivedAt = this.now();
    this.pingTimer = setInterval(() => this.heartbeat(), PING_EVERY_MS);
    this.report();
  }

  /** Sends a command, now or when the connection is back; false where the outbox is full and nothing was kept. */
  send(command: IdentifiedCommand): boolean {
    if (isFull(this.outbox)) return false;
    const controlled = this.control === null || this.control === "mine";
    this.outbox = enqueue(this.outbox, command, this.now(), controlled);
    if (this.throttledIds === null) this.transmit(command);
    this.persist();
    return true;
  }

  /** Sends something that is worth nothing later; false where there is no connection, and nothing was kept. */
  ask(message: Exclude<Command, IdentifiedCommand>): boolean {
    if (this.phase !== "online") return false;
    this.transmit(message);
    return true;
  }

  /** A person's word on the commands that grew old while offline. */
  decideHeld(decision: "send" | "discard"): void {
    const { held } = this;
    this.held = [];
    if (decision === "send") for (const { command } of held) this.send(command);
    this.persist();
  }

  /** The network is gone, as far as the browser knows: what is sent waits for the next answer. */
  suspend(): void {
    if (this.phase !== "online") return;
    this.phase = "offline";
    this.latency = null;
    this.report();
  }

  /** Ends it until `connect` is called. */
  close(): void {
    this.phase = "closed";
    clearTimeout(this.retryTimer);
    this.disconnect();
  }

  /** Whether a command still waits for its answer, also after it was rejected for now. */
  keeps(commandId: string | null): boolean {
    return [...this.outbox, ...this.held].some(({ command }) => command.command_id === commandId);
  }

  private handleOpen(): void {
    this.opened = true;
    this.lastReceivedAt = this.now();
    this.resume("new");
    this.ping();
  }

  /** Sends what waits, but for what grew too old meanwhile. Over the same wire, what was sent before is still on its way. */
  private resume(wire: "new" | "same"): void {
    this.phase = "online";
    const { fresh, held } = split(withoutStaleInputs(this.outbox, this.now()), this.now());
    this.outbox = fresh;
    this.held = [...this.held, ...held];
    const waits = (id: string) => wire === "same" && (this.sentAt.has(id) || this.throttledIds !== null);
    for (const { command } of fresh) if (!waits(command.command_id)) this.transmit(command);
    this.persist();
  }

  private handleMessage(data: unknown): void {
    if (typeof data !== "string") return;
    this.lastReceivedAt = this.now();
    this.unansweredSince = null;
    this.attempt = 0;
    const event = JSON.parse(data) as Event;
    if (event.type === "pong") this.latency = Math.max(0, this.now() - event.at);
    const before = this.outbox;
    this.outbox = settle(this.outbox, event);
    this.held = settle(this.held, event);
    if (this.phase === "offline") this.resume("same");
    if (event.type === "snapshot" || event.type === "control.changed") this.handleControl(event.control);
    if (isOverloaded(event)) this.startThrottling();
    else if (this.outbox !== before) this.advanceThrottling();
    this.options.onEvent(event);
    if (event.type === "pong" || this.outbox !== before) this.persist();
  }

  private handleLoss(code: number): void {
    this.disconnect();
    this.latency = null;
    const terminal = TERMINAL_PHASES[code];
    if (terminal === undefined) {
      const wait = delay(this.attempt++, code === FLOODING ? FLOODING_BACKOFF : BACKOFF);
      this.phase = "offline";
      this.retryAt = this.now() + wait;
      this.retryTimer = setTimeout(() => this.connect(), wait);
    } else {
      this.phase = terminal;
    }
    this.report();
  }

  private disconnect(): void {
    clearInterval(this.pingTimer);
    this.stopThrottling();
    const { wire } = this;
    this.wire = null;
    this.opened = false;
    this.unansweredSince = null;
    wire?.close();
  }

  private heartbeat(): void {
    if (this.now() - this.lastReceivedAt > SILENCE_LIMIT_MS) {
      this.handleLoss(1006);
    } else {
      if (this.unansweredSince !== null && this.now() - this.unansweredSince >= ANSWER_LIMIT_MS) this.suspend();
      this.ping();
      this.resend(RESEND_AFTER_MS);
    }
  }

  private handleControl(control: Control): void {
    const regained = control === "mine" && this.control !== "mine";
    this.control = control;
    if (regained) this.resend(0);
  }

  /** Sends again what was sent at least `age` milliseconds ago; without control it would only be refused. */
  private resend(age: number): void {
    if (this.control !== "mine") return;
    const now = this.now();
    if (age === 0) this.stopThrottling();
    for (const { command } of split(this.outbox, now).fresh) {
      const waits = this.throttledIds !== null && !this.throttledIds.has(command.command_id);
      if (!waits && now - (this.sentAt.get(command.command_id) ?? now) >= age) this.transmit(command);
    }
  }

  /** Some command found no room: wait a moment before the first few are sent again. */
  private startThrottling(): void {
    this.throttledIds ??= new Set();
    this.throttleTimer ??= setTimeout(() => this.sendBatch(), THROTTLE_PAUSE_MS);
  }

  private sendBatch(): void {
    this.throttleTimer = undefined;
    const batch = split(this.outbox, this.now()).fresh.slice(0, THROTTLE_BATCH);
    this.throttledIds = batch.length === 0 ? null : new Set(batch.map(({ command }) => command.command_id));
    for (const { command } of batch) this.transmit(command);
  }

  /** The last few were answered: the next few are sent. */
  private advanceThrottling(): void {
    const { throttledIds } = this;
    if (throttledIds === null || this.throttleTimer !== undefined) return;
    if (!this.outbox.some(({ command }) => throttledIds.has(command.command_id))) this.sendBatch();
  }

  private stopThrottling(): void {
    clearTimeout(this.throttleTimer);
    this.throttleTimer = undefined;
    this.throttledIds = null;
  }

  private ping(): void {
    if (!this.opened) return;
    this.unansweredSince ??= this.now();
    this.wire?.send(JSON.stringify({ type: "ping", at: this.now() } satisfies Command));
  }

  private transmit(command: Command): void {
    if (this.phase !== "online") return;
    if ("command_id" in command) this.sentAt.set(command.command_id, this.now());
    this.wire?.send(JSON.stringify(command));
  }

  private persist(): void {
    const waiting = new Set(this.outbox.map(({ command }) => command.command_id));
    for (const id of this.sentAt.keys()) if (!waiting.has(id)) this.sentAt.delete(id);
    this.options.onOutbox?.([...this.held, ...this.outbox]);
    this.report();
  }

  private report(): void {
    const { phase, latency, retryAt, outbox: waiting, held } = this;
    this.options.onConnection({ phase, latency, retryAt, waiting, held });
  }
}
