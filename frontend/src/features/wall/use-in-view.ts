/** Which elements of a list are in view or close to it. */
import { useCallback, useEffect, useState } from "react";

/** Pictures are asked for this far before they come into view. */
const MARGIN = "120px";

export type Observe = (element: HTMLElement | null) => (() => void) | undefined;

interface InView {
  readonly inView: ReadonlySet<string>;
  /** A ref for the element of a key; the key stands in `data-key`. */
  readonly observe: Observe;
}

export function useInView(): InView {
  const [inView, setInView] = useState<ReadonlySet<string>>(new Set());
  const [observer] = useState(
    () =>
      new IntersectionObserver(
        (entries) =>
          setInView((before) => {
            const after = new Set(before);
            for (const { target, isIntersecting } of entries) {
              const { key } = (target as HTMLElement).dataset;
              if (key === undefined) continue;
              if (isIntersecting) after.add(key);
              else after.delete(key);
            }
            return after;
          }),
        { rootMargin: MARGIN },
      ),
  );
  useEffect(() => () => observer.disconnect(), [observer]);
  const observe = useCallback(
    (element: HTMLElement | null) => {
      if (element === null) return undefined;
      observer.observe(element);
      return () => observer.unobserve(element);
    },
    [observer],
  );
  return { inView, observe };
}
