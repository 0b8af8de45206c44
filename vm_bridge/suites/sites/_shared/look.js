// Where a page's named parts are, in the pixels of its picture: what an expert aims by.
"use strict";

const Look = (() => {
  const scrolls = (node) => {
    const { overflowY } = getComputedStyle(node);
    return (overflowY === "auto" || overflowY === "scroll") && node.scrollHeight > node.clientHeight + 1;
  };

  function scrollerOf(node) {
    for (let up = node.parentElement; up && up !== document.body; up = up.parentElement) if (scrolls(up)) return up;
    return null;
  }

  /** The part of the window a scroller shows. */
  function frameOf(scroller) {
    if (!scroller) return { left: 0, top: 0, right: innerWidth, bottom: innerHeight };
    const r = scroller.getBoundingClientRect();
    return { left: Math.max(0, r.left), top: Math.max(0, r.top), right: Math.min(innerWidth, r.right), bottom: Math.min(innerHeight, r.bottom) };
  }

  /** Where to aim at: the middle of a link that goes over two lines may lie on neither. */
  const largest = (node) => [...node.getClientRects()].reduce((most, r) => (r.width * r.height > most.width * most.height ? r : most));

  function one(node) {
    const r = largest(node);
    const x = Math.round(r.left + r.width / 2), y = Math.round(r.top + r.height / 2);
    const inside = x >= 0 && y >= 0 && x < innerWidth && y < innerHeight;
    const hit = inside ? document.elementFromPoint(x, y) : null;
    const shown = hit !== null && (node.contains(hit) || hit.contains(node) && hit.closest("[data-at]") === null);
    const part = { x, y, w: Math.round(r.width), h: Math.round(r.height), shown };
    if (!shown) {
      const scroller = scrollerOf(node), frame = frameOf(scroller);
      part.scroll = { x: Math.round((frame.left + frame.right) / 2), y: Math.round((frame.top + frame.bottom) / 2), by: Math.round(y - (frame.top + frame.bottom) / 2) };
    }
    return part;
  }

  function all() {
    const parts = {};
    for (const node of document.querySelectorAll("[data-at]")) {
      if (node.getClientRects().length) parts[node.dataset.at] = one(node);
    }
    const active = document.activeElement;
    const selected = typeof active?.selectionStart === "number" && active.value !== "" && active.selectionEnd - active.selectionStart === active.value.length;
    return { width: innerWidth, height: innerHeight, focused: active?.dataset?.at ?? null, selected, parts };
  }

  return { all };
})();
