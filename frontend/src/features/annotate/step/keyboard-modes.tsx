/** Text and hotkeys as one types them: a field for any input method, and a place that catches chords. */
import { Textarea } from "@mantine/core";
import { useEffect, useRef, useState, type KeyboardEvent } from "react";

import { modifiersOf, pressedChord, pressedKey } from "@/shared/actions/keys";
import { formatKeys } from "@/shared/actions/words";
import { useI18n } from "@/shared/i18n/i18n";
import { useWorkspace } from "@/features/annotate/use-workspace";

import styles from "./step.module.css";

/** Enter types it, Ctrl+Enter types it and presses Enter, Shift+Enter is a new line. */
export function TypeMode() {
  const { t } = useI18n();
  const { perform, setMode, viewportRef } = useWorkspace();
  const [text, setText] = useState("");
  const leave = () => {
    setMode("point");
    viewportRef.current?.focus({ preventScroll: true });
  };
  const key = (event: KeyboardEvent) => {
    if (event.nativeEvent.isComposing) return;
    if (event.key === "Escape") leave();
    else if (event.key === "Enter" && !event.shiftKey && text !== "") {
      leave();
      perform({ kind: "type_text", text: event.ctrlKey || event.metaKey ? `${text}\n` : text });
    } else return;
    event.preventDefault();
    event.stopPropagation();
  };
  return (
    <Textarea
      label={t("step.type")}
      description={t("step.type.help")}
      value={text}
      onChange={(event) => setText(event.currentTarget.value)}
      onKeyDown={key}
      autosize
      minRows={1}
      maxRows={4}
      data-autofocus
      ref={(element) => element?.focus()}
    />
  );
}

/** Within this time (milliseconds) a second Escape leaves; alone it is a hotkey like any other. */
const DOUBLE_ESCAPE_MS = 450;

/** Captures a hotkey, or in the modes `press` and `release` the one key that is held down or let go. */
export function HotkeyMode() {
  const { t } = useI18n();
  const { mode, perform, setMode, viewportRef } = useWorkspace();
  const single = mode === "press" || mode === "release" ? mode : null;
  const label = t(single === null ? "step.hotkey" : `step.${single}`);
  const [held, setHeld] = useState<readonly string[]>([]);
  const escape = useRef<ReturnType<typeof setTimeout>>(undefined);
  const field = useRef<HTMLDivElement>(null);
  useEffect(() => {
    field.current?.focus();
    return () => clearTimeout(escape.current);
  }, []);

  const leave = () => {
    setMode("point");
    viewportRef.current?.focus({ preventScroll: true });
  };
  const take = (keys: string[]) => {
    leave();
    if (single === null) perform({ kind: "press_keys", keys });
    else perform({ kind: single, key: keys.at(-1) ?? "" });
  };
  const key = (event: KeyboardEvent) => {
    event.preventDefault();
    event.stopPropagation();
    const one = single === null ? null : pressedKey({ code: event.code, key: event.key });
    const chord = one === null ? pressedChord(event) : [one];
    if (chord === null) setHeld(modifiersOf(event));
    else if (chord.join() === "esc") escapePressed();
    else take(chord);
  };
  const escapePressed = () => {
    clearTimeout(escape.current);
    if (held[0] === "esc") {
      leave();
      return;
    }
    setHeld(["esc"]);
    escape.current = setTimeout(() => take(["esc"]), DOUBLE_ESCAPE_MS);
  };
  return (
    <div
      ref={field}
      className={styles.capture}
      role="textbox"
      tabIndex={0}
      aria-label={label}
      onKeyDown={key}
      onKeyUp={(event) => setHeld((keys) => (keys[0] === "esc" ? keys : modifiersOf(event)))}
      onBlur={() => setMode("point")}
    >
      <strong>{held.length === 0 ? label : formatKeys(held)}</strong>
      <span>{t("step.hotkey.help")}</span>
    </div>
  );
}
