/** Keyboard and text of a takeover on their way to the machine, and that everything held there is let go. */
import { useEffect, useMemo, useState, type RefObject } from "react";

import { useWorkspace } from "@/features/annotate/use-workspace";
import { isTyping } from "@/shared/commands/registry";

import { InputQueue } from "./takeover";
import { committedText, DOUBLE_ESCAPE_MS, TakeoverKeys, type KeyStroke } from "./takeover-keys";

/** How often the server hears that keys or buttons are still held (ms); after a second of silence it releases them. */
const HEARTBEAT_MS = 300;

const isMac = () => /mac|iphone|ipad/i.test(navigator.platform);

interface TakeoverInput {
  readonly queue: InputQueue;
  readonly keys: TakeoverKeys;
}

/** `field` has the focus meanwhile, so that input methods write into it. */
export function useTakeoverInput(field: RefObject<HTMLTextAreaElement | null>): TakeoverInput {
  const { send, dialog, connection, episode } = useWorkspace();
  const online = connection.phase === "online";
  const [copiedThere] = useState(() => episode.steps.some(({ action, undone }) => action.kind === "set_clipboard" && !undone));
  const { queue, keys } = useMemo(
    () => ({ queue: new InputQueue((inputs) => send({ type: "input", inputs })), keys: new TakeoverKeys(isMac(), copiedThere) }),
    [send, copiedThere],
  );

  useEffect(() => {
    const releases = keys.releaseAll();
    if (online) queue.reconnect();
    else queue.disconnect(releases);
  }, [online, queue, keys]);

  useKeyboard({ queue, keys }, field, dialog === null);

  useEffect(() => {
    const timer = setInterval(() => {
      if (online && (keys.holds || queue.holds)) send({ type: "input", inputs: [] });
    }, HEARTBEAT_MS);
    return () => clearInterval(timer);
  }, [queue, keys, send, online]);

  return { queue, keys };
}

/** Every key goes to the machine while `active`; nothing stays down when the page loses the focus, or at the end. */
function useKeyboard({ queue, keys }: TakeoverInput, field: RefObject<HTMLTextAreaElement | null>, active: boolean): void {
  const { setDialog } = useWorkspace();
  useEffect(() => {
    if (!active) return;
    let escape: ReturnType<typeof setTimeout> | undefined;
    const releaseAll = () => {
      queue.add(keys.releaseAll());
      queue.add(queue.takeReleases());
      queue.flush();
    };
    const key = (event: KeyboardEvent) => {
      const { inputs, exit, taken } = keys.keyboard(strokeOf(event));
      event.stopImmediatePropagation();
      if (taken) event.preventDefault();
      queue.add(inputs);
      clearTimeout(escape);
      if (exit) setDialog("takeover");
      else if (keys.escapeWaits) escape = setTimeout(() => queue.add(keys.escapeAlone()), DOUBLE_ESCAPE_MS);
    };
    const text = (event: Event) => {
      if (event instanceof CompositionEvent || event instanceof DomInputEvent) queue.add(keys.text(committedText(event)));
      if (field.current !== null && !(event instanceof DomInputEvent && event.isComposing)) field.current.value = "";
    };
    const paste = (event: ClipboardEvent) => {
      event.preventDefault();
      event.stopImmediatePropagation();
      queue.add(keys.pasted(event.clipboardData?.getData("text/plain") ?? ""));
    };
    const focused = () => keys.focused();
    const keepFocus = (event: FocusEvent) => {
      if (event.target !== field.current && isTyping(event.target)) field.current?.focus({ preventScroll: true });
    };
    const input = field.current;
    input?.focus({ preventScroll: true });
    input?.addEventListener("compositionend", text);
    input?.addEventListener("input", text);
    window.addEventListener("keydown", key, true);
    window.addEventListener("keyup", key, true);
    document.addEventListener("paste", paste, true);
    window.addEventListener("focus", focused);
    window.addEventListener("blur", releaseAll);
    document.addEventListener("visibilitychange", releaseAll);
    document.addEventListener("focusin", keepFocus);
    return () => {
      clearTimeout(escape);
      input?.removeEventListener("compositionend", text);
      input?.removeEventListener("input", text);
      window.removeEventListener("keydown", key, true);
      window.removeEventListener("keyup", key, true);
      document.removeEventListener("paste", paste, true);
      window.removeEventListener("focus", focused);
      window.removeEventListener("blur", releaseAll);
      document.removeEventListener("visibilitychange", releaseAll);
      document.removeEventListener("focusin", keepFocus);
      releaseAll();
    };
  }, [queue, keys, field, setDialog, active]);
}

/** The DOM's own, whose name the vocabulary has too. */
const DomInputEvent = window.InputEvent;

function strokeOf(event: KeyboardEvent): KeyStroke {
  // oxlint-disable-next-line typescript/no-deprecated -- Safari tells by it alone that a key ended a composition
  const { type, code, key, keyCode, repeat, isComposing, timeStamp, ctrlKey, shiftKey, altKey, metaKey } = event;
  const altGraph = event.getModifierState("AltGraph");
  return { type, code, key, keyCode, repeat, isComposing, timeStamp, ctrlKey, shiftKey, altKey, metaKey, altGraph };
}
