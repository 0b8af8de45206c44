/** Whether a mouse or the keyboard rests on an element. */
import { useEffect, useRef, useState, type FocusEvent, type KeyboardEvent, type PointerEvent } from "react";

/** How long the mouse or the keyboard must rest on it, and how long the mouse may have left (milliseconds). */
const BEGIN_MS = 250;
const END_MS = 50;

/** `handlers` belong to the element. A finger does not dwell: it has no way to leave. Focus counts where the keyboard gave it; Escape ends it. */
export function useDwell() {
  const [dwells, setDwells] = useState(false);
  const timer = useRef<ReturnType<typeof setTimeout>>(undefined);
  useEffect(() => () => clearTimeout(timer.current), []);

  const become = (next: boolean, after: number) => {
    clearTimeout(timer.current);
    timer.current = setTimeout(() => setDwells(next), after);
  };
  return {
    dwells,
    handlers: {
      onPointerEnter: ({ pointerType }: PointerEvent) => {
        if (pointerType !== "touch") become(true, BEGIN_MS);
      },
      onPointerLeave: () => become(false, END_MS),
      onFocus: ({ currentTarget }: FocusEvent) => {
        if (currentTarget.matches(":focus-visible")) become(true, BEGIN_MS);
      },
      onBlur: () => become(false, 0),
      onKeyDown: ({ key }: KeyboardEvent) => {
        if (key === "Escape") become(false, 0);
      },
    },
  };
}
