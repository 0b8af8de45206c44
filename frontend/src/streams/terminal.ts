/** The live output of a machine's terminal sessions, over a WebSocket that only shows; a lost one comes back with a fresh ticket. */
import type { Ticket } from "./connector";

/** What one session wrote; the first frame of a session on a connection is its present screen. */
export interface TerminalFrame {
  readonly session: string;
  readonly data: Uint8Array;
  readonly cols: number;
  readonly rows: number;
}

interface TerminalListener {
  onFrame(frame: TerminalFrame): void;
  /** `reason` says why the last connection ended; empty while nothing went wrong. */
  onPhase(phase: "connecting" | "live", reason: string): void;
}

interface TerminalOptions {
  readonly ticket: () => Promise<Ticket>;
  readonly listener: TerminalListener;
  readonly open?: (url: string) => WebSocket;
}

const RETRY_DELAYS: readonly number[] = [0, 1_000, 2_000, 5_000, 10_000];

/** Connects and stays connected; the function returned ends it. */
export function connectTerminals({ ticket, listener, open = (url) => new WebSocket(url) }: TerminalOptions): () => void {
  let stopped = false;
  let failures = 0;
  let socket: WebSocket | null = null;
  let retry: ReturnType<typeof setTimeout> | undefined;

  const lost = (reason: string) => {
    socket = null;
    if (stopped) return;
    listener.onPhase("connecting", reason);
    retry = setTimeout(connect, RETRY_DELAYS[Math.min(failures++, RETRY_DELAYS.length - 1)]);
  };
  const begin = (granted: Ticket) => {
    if (stopped) return;
    socket = open(socketAddress(granted));
    socket.onopen = () => listener.onPhase("live", "");
    socket.onmessage = ({ data }: MessageEvent<unknown>) => {
      const frame = typeof data === "string" ? frameOf(data) : null;
      if (frame === null) return;
      failures = 0;
      listener.onFrame(frame);
    };
    socket.onclose = ({ reason }) => lost(reason || "closed");
  };
  const connect = () => {
    ticket().then(begin, (error: unknown) => lost(String(error)));
  };
  listener.onPhase("connecting", "");
  connect();
  return () => {
    stopped = true;
    clearTimeout(retry);
    socket?.close();
  };
}

/** Where the socket is: the ticket's address, which may be written as a page's. */
export function socketAddress({ url, ticket }: Ticket): string {
  const address = new URL(url, window.location.href);
  address.protocol = address.protocol.replace("http", "ws");
  if (!address.searchParams.has("token")) address.searchParams.set("token", ticket);
  return address.href;
}

/** A frame as it is sent; null for what is none, which a newer bridge may send. */
export function frameOf(text: string): TerminalFrame | null {
  const read = JSON.parse(text) as Partial<Record<"session" | "data" | "cols" | "rows", unknown>>;
  const { session, data, cols, rows } = read;
  if (typeof session !== "string" || typeof data !== "string" || typeof cols !== "number" || typeof rows !== "number") return null;
  return { session, data: Uint8Array.from(atob(data), (character) => character.charCodeAt(0)), cols, rows };
}
