/** The picture during a takeover: pointer and keys go straight to the machine, through the one socket. */
import { useRef, type PointerEvent } from "react";
import { useEventListener, useMergedRef } from "@mantine/hooks";

import { useI18n } from "@/shared/i18n/i18n";
import { nearestPixel, type Size } from "@/shared/markers/mapping";
import { useWorkspace } from "@/features/annotate/use-workspace";

import { buttonFromNumber } from "./takeover";
import { useTakeoverInput } from "./use-takeover-input";
import styles from "./viewport.module.css";

const NOTCH = 100;
const AXES = [
  ["deltaY", "down", "up"],
  ["deltaX", "right", "left"],
] as const;

export function TakeoverLayer({ picture }: { picture: Size }) {
  const { t } = useI18n();
  const { viewportRef } = useWorkspace();
  const field = useRef<HTMLTextAreaElement>(null);
  const { queue, keys } = useTakeoverInput(field);
  const turned = useRef({ deltaX: 0, deltaY: 0 });

  const pixel = (event: PointerEvent<HTMLDivElement> | WheelEvent) =>
    nearestPixel({ x: event.clientX, y: event.clientY }, (event.currentTarget as HTMLElement).getBoundingClientRect(), picture);

  const button = (event: PointerEvent<HTMLDivElement>) => {
    const name = buttonFromNumber(event.button);
    if (name === null) return;
    event.preventDefault();
    if (event.type === "pointerdown") event.currentTarget.setPointerCapture(event.pointerId);
    queue.add(keys.pointer(event));
    queue.button(event.type === "pointerdown", name, pixel(event));
  };

  const wheel = useEventListener("wheel", (event) => {
    event.preventDefault();
    for (const [axis, forwards, backwards] of AXES) {
      const turn = event.deltaMode === WheelEvent.DOM_DELTA_LINE ? (event[axis] * NOTCH) / 3 : event[axis];
      const notches = Math.trunc((turned.current[axis] + turn) / NOTCH);
      turned.current[axis] += turn - notches * NOTCH;
      if (notches === 0) continue;
      queue.add(keys.pointer(event));
      queue.scroll(pixel(event), notches > 0 ? forwards : backwards, Math.min(Math.abs(notches), 100));
    }
  }, { passive: false });
  const ref = useMergedRef(viewportRef, wheel);

  return (
    <>
      <textarea ref={field} className={styles.keys} aria-label={t("takeover.keys")} autoCapitalize="off" autoCorrect="off" spellCheck={false} rows={1} />
      {/* oxlint-disable-next-line jsx-a11y/no-noninteractive-element-interactions -- the machine itself, under pointer and keys */}
      <div
        ref={ref}
        className={styles.hand}
        role="application"
        aria-label={t("takeover.label")}
        onPointerMove={(event) => queue.move(pixel(event))}
        onPointerDown={button}
        onPointerUp={button}
        onMouseDown={(event) => event.preventDefault()}
        onMouseUp={(event) => event.preventDefault()}
        onContextMenu={(event) => event.preventDefault()}
      />
    </>
  );
}
