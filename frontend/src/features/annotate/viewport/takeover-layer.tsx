/** The picture during a takeover: pointer and keys go straight to the machine, through the one socket. */
import { useEffect, useMemo, useRef, type PointerEvent } from "react";
import { useEventListener, useMergedRef } from "@mantine/hooks";

import { useI18n } from "@/shared/i18n/i18n";
import { nearestPixel, type Size } from "@/shared/markers/mapping";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { buttonFromNumber, DOUBLE_ESCAPE_MS, InputQueue, rawKey } from "./takeover";
import styles from "./viewport.module.css";

const NOTCH = 100;

export function TakeoverLayer({ picture }: { picture: Size }) {
  const { t } = useI18n();
  const { send, setDialog, viewportRef, dialog } = useWorkspace();
  const queue = useMemo(() => new InputQueue((inputs) => send({ type: "input", inputs })), [send]);
  const escapedAt = useRef(-Infinity);
  const wheelDelta = useRef(0);

  useEffect(() => {
    if (dialog !== null) return;
    const key = (event: KeyboardEvent) => {
      const name = rawKey(event);
      const isExitChord = event.code === "KeyT" && event.ctrlKey && event.altKey;
      const again = event.key === "Escape" && event.type === "keydown" && event.timeStamp - escapedAt.current < DOUBLE_ESCAPE_MS;
      if (event.key === "Escape" && event.type === "keydown" && !event.repeat) escapedAt.current = event.timeStamp;
      event.preventDefault();
      event.stopImmediatePropagation();
      if (isExitChord || again) setDialog("takeover");
      else if (name !== null) queue.key(event.type === "keydown", name);
    };
    const releaseKeys = () => queue.releaseAll();
    window.addEventListener("keydown", key, true);
    window.addEventListener("keyup", key, true);
    window.addEventListener("blur", releaseKeys);
    return () => {
      window.removeEventListener("keydown", key, true);
      window.removeEventListener("keyup", key, true);
      window.removeEventListener("blur", releaseKeys);
      queue.releaseAll();
    };
  }, [queue, setDialog, dialog]);

  const pixel = (event: PointerEvent<HTMLDivElement> | WheelEvent) =>
    nearestPixel({ x: event.clientX, y: event.clientY }, (event.currentTarget as HTMLElement).getBoundingClientRect(), picture);

  const button = (event: PointerEvent<HTMLDivElement>) => {
    const name = buttonFromNumber(event.button);
    if (name === null) return;
    event.preventDefault();
    if (event.type === "pointerdown") event.currentTarget.setPointerCapture(event.pointerId);
    queue.button(event.type === "pointerdown", name, pixel(event));
  };

  const wheel = useEventListener("wheel", (event) => {
    event.preventDefault();
    wheelDelta.current += event.deltaMode === WheelEvent.DOM_DELTA_LINE ? (event.deltaY * NOTCH) / 3 : event.deltaY;
    const notches = Math.trunc(wheelDelta.current / NOTCH);
    if (notches === 0) return;
    wheelDelta.current -= notches * NOTCH;
    queue.scroll(pixel(event), notches > 0 ? "down" : "up", Math.min(Math.abs(notches), 100));
  }, { passive: false });
  const ref = useMergedRef(viewportRef, wheel);

  return (
    // eslint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the machine itself, under pointer and keys
    <div
      ref={ref}
      className={styles.hand}
      role="application"
      aria-label={t("takeover.label")}
      onPointerMove={(event) => queue.move(pixel(event))}
      onPointerDown={button}
      onPointerUp={button}
      onContextMenu={(event) => event.preventDefault()}
    />
  );
}
