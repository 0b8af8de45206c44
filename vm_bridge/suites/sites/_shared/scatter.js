// Places for the parts of a page that has no order: anywhere in the window, none over another.
"use strict";

const Scatter = (() => {
  const GAP = 6, TRIES = 400;

  /** About how wide a text is, in pixels of a usual font of 13. */
  const wide = (text) => [...text].reduce((sum, c) => sum + (c.codePointAt(0) > 0x2e80 ? 14 : 8), 0);

  const apart = (a, b) => a.x + a.w + GAP <= b.x || b.x + b.w + GAP <= a.x || a.y + a.h + GAP <= b.y || b.y + b.h + GAP <= a.y;

  /** A box {x, y, w, h} for each of these sizes [w, h] below `top`; those for which no room is found are left out. */
  function boxes(rng, sizes, top = 0) {
    const found = [];
    for (const [w, h] of sizes) {
      for (let n = 0; n < TRIES; n++) {
        const box = { x: rng.int(4, Math.max(4, innerWidth - w - 4)), y: rng.int(top + 4, Math.max(top + 4, innerHeight - h - 4)), w, h };
        if (found.every((other) => apart(box, other))) {
          found.push(box);
          break;
        }
      }
    }
    return found;
  }

  const style = ({ x, y, w, h }) => `position:absolute;left:${x}px;top:${y}px;width:${w}px;height:${h}px`;

  return { wide, boxes, style };
})();
