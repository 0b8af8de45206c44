/** One way for pixels to reach the page; WebRTC, VNC and stills each are one. */

export type StreamKind = "webrtc" | "vnc" | "stills";

/** What the page draws a picture from; the loupe reads pixels out of it. */
export type Surface = HTMLVideoElement | HTMLCanvasElement;

export interface Ticket {
  readonly ticket: string;
  readonly url: string;
  /** What helps WebRTC through firewalls: STUN and TURN servers, where the operator has any. */
  readonly ice_servers?: readonly RTCIceServer[];
}

export interface Measure {
  /** Pictures or updates a second; a screen that rests has few. */
  readonly fps: number;
  /** From leaving the machine to being shown (milliseconds), null where it cannot be known. */
  readonly latency: number | null;
}

export interface Listener {
  /** The first picture is shown. */
  onPicture(surface: Surface): void;
  onMeasure(measure: Measure): void;
  /** The stream ended, before or after its first picture; nothing follows. */
  onEnd(reason: string): void;
}

/** Starts a stream that draws into `host`; the returned function stops it and removes what it drew. */
export type Connector = (host: HTMLElement, ticket: Ticket, listener: Listener) => () => void;

export const MEASURE_EVERY = 1_000;
