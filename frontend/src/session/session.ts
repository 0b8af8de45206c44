/** One episode as the page lives with it: the view, the connection and what to send; an external store for React. */

import type { ContinueText, Event, Snapshot } from "@/generated/vocabulary";

import { newCommandId } from "./command-id";
import type { DraftStore } from "./drafts";
import { giveBackTexts } from "./refused-texts";
import { CAPACITY, type IdentifiedCommand } from "./outbox";
import { applyEvent, applySnapshot, type EpisodeView } from "./reducer";
import { EpisodeSocket, type Connection, type Wire } from "./socket";

type DistributiveOmit<T, K extends PropertyKey> = T extends unknown ? Omit<T, K> : never;

/** A command before it has its id. */
export type CommandBody = DistributiveOmit<IdentifiedCommand, "command_id">;

export interface Rejection {
  readonly code: string;
  readonly message: string;
  readonly command: IdentifiedCommand | null;
}

export interface SessionState {
  readonly view: EpisodeView | null;
  readonly connection: Connection;
  /** The last command that was refused, until it is dismissed or another one is sent. */
  readonly rejection: Rejection | null;
  /** The step that was discarded last, unsent. */
  readonly discarded: IdentifiedCommand | null;
}

interface SessionOptions {
  readonly episodeId: string;
  readonly url: string;
  readonly open?: (url: string) => Wire;
  readonly fetchSnapshot: () => Promise<Snapshot>;
  readonly drafts: DraftStore;
}

const UNCONNECTED: Connection = { phase: "connecting", latency: null, retryAt: null, waiting: [], held: [] };

export class Session {
  private state: SessionState = { view: null, connection: UNCONNECTED, rejection: null, discarded: null };
  private readonly listeners = new Set<() => void>();
  private readonly socket: EpisodeSocket;
  /** What may still be refused, to give back what it said. */
  private sent: readonly IdentifiedCommand[];
  private refetching = false;
  private requests = 0;

  constructor(private readonly options: SessionOptions) {
    const { episodeId, drafts } = options;
    const outbox = drafts.loadOutbox(episodeId);
    this.sent = outbox.map(({ command }) => command);
    this.socket = new EpisodeSocket({
      url: options.url,
      open: options.open ?? browserSocket,
      outbox,
      onEvent: (event) => this.receive(event),
      onConnection: (connection) => this.set({ connection }),
      onOutbox: (outbox) => drafts.saveOutbox(episodeId, outbox),
    });
  }

  /** Connects and stays connected; the function returned ends it. */
  start(): () => void {
    const wake = () => {
      if (document.visibilityState === "visible") this.socket.connect();
    };
    const suspend = () => this.socket.suspend();
    window.addEventListener("online", wake);
    window.addEventListener("offline", suspend);
    document.addEventListener("visibilitychange", wake);
    this.socket.connect();
    return () => {
      window.removeEventListener("online", wake);
      window.removeEventListener("offline", suspend);
      document.removeEventListener("visibilitychange", wake);
      this.socket.close();
    };
  }

  /** Connects again where the connection had ended for good, as after a new sign-in. */
  reconnect(): void {
    this.socket.connect();
  }

  /** Sends a command under a new id; null where too many are waiting already. */
  send(body: CommandBody): string | null {
    const command: IdentifiedCommand = { ...body, command_id: newCommandId() };
    if (!this.socket.send(command)) {
      this.giveBack(command);
      this.set({ rejection: { code: "queue_full", message: "", command } });
      return null;
    }
    this.sent = [...this.sent, command].slice(-CAPACITY);
    if (this.state.rejection !== null && command.type !== "input") this.dismiss();
    return command.command_id;
  }

  /** Asks the policy to continue a text. Returns the request's number, which the answer has; null without a connection. */
  ask(question: Omit<ContinueText, "type" | "request">): number | null {
    this.requests += 1;
    return this.socket.ask({ type: "continue", request: this.requests, ...question }) ? this.requests : null;
  }

  /** Sends the commands that grew old while offline, or gives back what they say: the first step's draft, each form its texts. */
  decideHeld(decision: "send" | "discard"): void {
    const held = this.state.connection.held.map(({ command }) => command);
    this.socket.decideHeld(decision);
    if (decision === "send") return;
    held.forEach((command) => this.giveBack(command));
    this.set({ discarded: held.find(({ type }) => type === "act" || type === "accept") ?? null });
  }

  /** Shows a refusal that this page knows of itself, without asking the server. */
  refuse(code: string): void {
    this.set({ rejection: { code, message: "", command: null } });
  }

  dismiss(): void {
    this.set({ rejection: null });
  }

  readonly subscribe = (listener: () => void): (() => void) => {
    this.listeners.add(listener);
    return () => this.listeners.delete(listener);
  };

  readonly getState = (): SessionState => this.state;

  private giveBack(command: IdentifiedCommand): void {
    giveBackTexts(this.options.drafts, this.options.episodeId, this.state.view?.episode.steps.length ?? 0, command);
  }

  private receive(event: Event): void {
    const view = applyEvent(this.state.view, event);
    if (event.type === "rejected" && !this.socket.keeps(event.command_id)) {
      const command = this.sent.find((one) => one.command_id === event.command_id) ?? null;
      if (command !== null) this.giveBack(command);
      this.set({ view, rejection: { code: event.code, message: event.message, command } });
    } else {
      this.set({ view });
    }
    if (view?.gap === true) this.refetch();
  }

  /** One at a time; a failure leaves the gap open, and the next event or pong asks again. */
  private refetch(): void {
    if (this.refetching) return;
    this.refetching = true;
    this.options
      .fetchSnapshot()
      .then(
        ({ state, control }) => this.set({ view: applySnapshot(this.state.view, state, this.state.view?.control ?? control) }),
        () => undefined,
      )
      .finally(() => {
        this.refetching = false;
      });
  }

  private set(change: Partial<SessionState>): void {
    this.state = { ...this.state, ...change };
    this.listeners.forEach((listener) => listener());
  }
}

function browserSocket(url: string): Wire {
  const socket = new WebSocket(url);
  const wire: Wire = {
    onopen: null,
    onmessage: null,
    onclose: null,
    send: (text) => socket.send(text),
    close: () => socket.close(),
  };
  socket.onopen = () => wire.onopen?.();
  socket.onmessage = ({ data }: MessageEvent<unknown>) => wire.onmessage?.({ data });
  socket.onclose = ({ code }) => wire.onclose?.({ code });
  return wire;
}

/** Where the socket of an episode is. */
export function socketUrl(episodeId: string, { protocol, host } = window.location): string {
  return `${protocol === "https:" ? "wss" : "ws"}://${host}/ws/episodes/${encodeURIComponent(episodeId)}/`;
}
