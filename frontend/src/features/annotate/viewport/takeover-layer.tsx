/** The picture during a takeover: pointer, fingers and keys go straight to the machine, through the one socket. */
import { useEffect, useImperativeHandle, useRef, useState, type PointerEvent } from "react";
import { useEventListener, useMergedRef } from "@mantine/hooks";

import type { Point } from "@/generated/vocabulary";
import { useI18n } from "@/shared/i18n/i18n";
import { nearestPixel, type Size } from "@/shared/markers/mapping";
import { useWorkspace } from "@/features/annotate/use-workspace";

import type { FingerMove } from "./fingers";
import { HOLD_MS } from "./gestures";
import { buttonFromNumber } from "./takeover";
import { TakeoverFingers, type FingerInput } from "./takeover-fingers";
import { useTakeoverInput } from "./use-takeover-input";
import styles from "./viewport.module.css";

const NOTCH = 100;
const AXES = [
  ["deltaY", "down", "up"],
  ["deltaX", "right", "left"],
] as const;

const FINGER_EVENTS: Readonly<Record<string, "down" | "move" | "up" | "cancel">> = {
  pointerdown: "down",
  pointermove: "move",
  pointerup: "up",
  pointercancel: "cancel",
};

/** Browsers show the keyboard of a touch screen for a field as it gets the focus, by what the field then says. */
function toggleScreenKeyboard(field: HTMLTextAreaElement): void {
  field.inputMode = field.inputMode === "none" ? "text" : "none";
  field.blur();
  field.focus({ preventScroll: true });
}

interface Props {
  readonly picture: Size;
  /** See `PointerLayer`. */
  readonly onZoom: (move: Extract<FingerMove, { kind: "zoom" }>, corner: Point) => void;
}

export function TakeoverLayer({ picture, onZoom }: Props) {
  const { t } = useI18n();
  const { viewportRef, screenKeyboardRef } = useWorkspace();
  const field = useRef<HTMLTextAreaElement>(null);
  const { queue, keys } = useTakeoverInput(field);
  const turned = useRef({ deltaX: 0, deltaY: 0 });
  const [fingers] = useState(() => new TakeoverFingers());
  const holdTimer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(holdTimer.current), []);
  useImperativeHandle(screenKeyboardRef, () => ({ toggle: () => field.current && toggleScreenKeyboard(field.current) }), []);

  const pixel = (event: PointerEvent<HTMLDivElement> | WheelEvent) =>
    nearestPixel({ x: event.clientX, y: event.clientY }, (event.currentTarget as HTMLElement).getBoundingClientRect(), picture);

  const button = (event: PointerEvent<HTMLDivElement>) => {
    const name = buttonFromNumber(event.button);
    if (handleFinger(event) || name === null) return;
    event.preventDefault();
    if (event.type === "pointerdown") event.currentTarget.setPointerCapture(event.pointerId);
    queue.add(keys.pointer(event));
    queue.button(event.type === "pointerdown", name, pixel(event));
  };

  /** Turns the wheel there by whole notches; what is left counts with the next turn. */
  const turnWheel = (turn: { deltaX: number; deltaY: number }, at: Point, flags: PointerEvent | WheelEvent) => {
    for (const [axis, forwards, backwards] of AXES) {
      const notches = Math.trunc((turned.current[axis] + turn[axis]) / NOTCH);
      turned.current[axis] += turn[axis] - notches * NOTCH;
      if (notches === 0) continue;
      queue.add(keys.pointer(flags));
      queue.scroll(at, notches > 0 ? forwards : backwards, Math.min(Math.abs(notches), 100));
    }
  };

  const wheel = useEventListener("wheel", (event) => {
    event.preventDefault();
    const unit = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? NOTCH / 3 : 1;
    turnWheel({ deltaX: event.deltaX * unit, deltaY: event.deltaY * unit }, pixel(event), event);
  }, { passive: false });

  const doFingers = (inputs: readonly FingerInput[], event: PointerEvent<HTMLDivElement>, corner: Point) => {
    for (const input of inputs) {
      if (input.kind === "zoom") onZoom(input.move, corner);
      else if (input.kind === "scroll") turnWheel({ deltaX: input.dx, deltaY: input.dy }, input.pixel, event);
      else if (input.kind === "move") queue.move(input.pixel);
      else {
        queue.add(keys.pointer(event));
        queue.button(input.down, input.button, input.pixel);
      }
    }
  };

  /** Whether the event is a finger's. */
  const handleFinger = (event: PointerEvent<HTMLDivElement>): boolean => {
    if (event.pointerType !== "touch") return false;
    event.preventDefault();
    const corner = event.currentTarget.getBoundingClientRect();
    const touch = { id: event.pointerId, place: { x: event.clientX, y: event.clientY }, pixel: pixel(event), at: event.timeStamp };
    const does = FINGER_EVENTS[event.type];
    if (does !== undefined) doFingers(fingers[does](touch), event, corner);
    if (does === "down") event.currentTarget.setPointerCapture(event.pointerId);
    if (does !== "move" || !fingers.isPressing) clearTimeout(holdTimer.current);
    if (does === "down" && fingers.isPressing) holdTimer.current = setTimeout(() => doFingers(fingers.held(), event, corner), HOLD_MS);
    return true;
  };
  const ref = useMergedRef(viewportRef, wheel);

  return (
    <>
      <textarea ref={field} className={styles.keys} aria-label={t("takeover.keys")} inputMode="none" autoCapitalize="off" autoCorrect="off" spellCheck={false} rows={1} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the machine itself, under pointer and keys */}
      <div
        ref={ref}
        className={styles.hand}
        role="application"
        aria-label={t("takeover.label")}
        onPointerMove={(event) => {
          if (!handleFinger(event)) queue.move(pixel(event));
        }}
        onPointerDown={button}
        onPointerUp={button}
        onPointerCancel={handleFinger}
        onMouseDown={(event) => event.preventDefault()}
        onMouseUp={(event) => event.preventDefault()}
        onContextMenu={(event) => event.preventDefault()}
      />
    </>
  );
}
