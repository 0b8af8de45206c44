// Labels with a cross each, which takes them away; one is to go.
"use strict";

const { h, t } = Kit;

function make(rng, task) {
  return { chips: rng.shuffle(task.slots.names), gap: rng.int(6, 14), top: rng.int(0, 50), removed: null };
}

Kit.open({
  name: "chips",
  words: { en: { title: "Labels", away: "Remove {0}" }, zh: { title: "标签", away: "移除{0}" } },
  make,
  view: (m) => h("main", {}, h("div.chips", { style: `gap:${m.gap}px;padding-top:${m.top}px` }, m.chips.filter((name) => name !== m.removed).map((name) =>
    h("span.chip", { "data-key": name }, name, h("button.bare", { at: name, "aria-label": t("away", name), on: { click: () => (m.removed ??= name) } }, "×"))))),
});
