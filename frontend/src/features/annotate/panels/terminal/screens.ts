/** The screens of the terminal sessions, each an xterm that is written to whether or not it is looked at. */
import { Terminal, type ITheme } from "@xterm/xterm";
import "@xterm/xterm/css/xterm.css";

import type { TerminalFrame } from "@/streams/terminal";

const THEME: ITheme = {
  background: "#111214",
  foreground: "#e6e6ea",
  cursor: "#8b98ff",
  selectionBackground: "#3a4070",
};
const MAX_FONT_SIZE = 15;
const MIN_FONT_SIZE = 9;

export interface Screens {
  /** Writes a frame to its session's screen, which is made where there is none; a present screen begins by clearing it. */
  write(frame: TerminalFrame): void;
  /** Puts a session's screen into an element; the function returned takes it out. */
  show(session: string, host: HTMLElement): () => void;
  /** Keys typed on a screen go to `onInput`; null lets it only be looked at. */
  listen(session: string, onInput: ((text: string) => void) | null): void;
  focus(session: string): void;
  dispose(): void;
}

export function makeScreens(): Screens {
  const screens = new Map<string, Terminal>();
  const listeners = new Map<string, (text: string) => void>();
  const screenOf = (session: string) => {
    const known = screens.get(session);
    if (known !== undefined) return known;
    const screen = new Terminal({ disableStdin: true, scrollback: 2_000, theme: THEME, fontFamily: "DejaVu Sans Mono, monospace", fontSize: 12, screenReaderMode: true });
    screen.onData((text) => listeners.get(session)?.(text));
    screens.set(session, screen);
    return screen;
  };
  return {
    write({ session, data, cols, rows }) {
      const screen = screenOf(session);
      if (screen.cols !== cols || screen.rows !== rows) {
        screen.resize(cols, rows);
        fit(screen);
      }
      screen.write(data);
    },
    show(session, host) {
      const screen = screenOf(session);
      if (screen.element === undefined) screen.open(host);
      else host.append(screen.element);
      fit(screen);
      const observer = new ResizeObserver(() => fit(screen));
      observer.observe(host);
      return () => {
        observer.disconnect();
        screen.element?.remove();
      };
    },
    listen(session, onInput) {
      if (onInput === null) listeners.delete(session);
      else listeners.set(session, onInput);
      screenOf(session).options.disableStdin = onInput === null;
    },
    focus: (session) => screens.get(session)?.focus(),
    dispose: () => screens.forEach((screen) => screen.dispose()),
  };
}

/** The largest type with which the whole screen fits its element; the machine says how many rows and columns there are. */
function fit(screen: Terminal): void {
  const host = screen.element?.parentElement;
  const rendered = screen.element?.querySelector<HTMLElement>(".xterm-screen");
  if (!host || !rendered || rendered.offsetWidth === 0) return;
  const now = screen.options.fontSize ?? MAX_FONT_SIZE;
  const scale = Math.min(host.clientWidth / rendered.offsetWidth, host.clientHeight / rendered.offsetHeight);
  const size = Math.max(MIN_FONT_SIZE, Math.min(MAX_FONT_SIZE, Math.floor(now * scale)));
  if (size !== now) screen.options.fontSize = size;
}
