// Buttons anywhere on the page, one of which is to be pressed.
"use strict";

const { h, button } = Kit;

function make(rng, task) {
  const boxes = Scatter.boxes(rng, task.slots.names.map((name) => [Scatter.wide(name) + 24 + rng.int(0, 14), 26 + rng.int(0, 8)]));
  return { buttons: boxes.map((box, i) => ({ name: task.slots.names[i], box, main: rng.chance(0.3) })), pressed: null };
}

Kit.open({
  name: "press",
  words: { en: { title: "Buttons" }, zh: { title: "按钮" } },
  make,
  view: (m) => h("main", {}, m.buttons.map(({ name, box, main }) =>
    button(name, name, () => (m.pressed ??= name), { style: Scatter.style(box), class: main ? "primary" : "", "aria-pressed": String(m.pressed === name) }))),
});
