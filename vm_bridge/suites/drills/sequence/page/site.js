// Buttons anywhere, three of which are to be pressed one after another; each shows that it was.
"use strict";

const { h, button } = Kit;

function make(rng, task) {
  const { names } = task.slots;
  const boxes = Scatter.boxes(rng, names.map((name) => [Scatter.wide(name) + 20 + rng.int(0, 10), 28 + rng.int(0, 6)]));
  return { buttons: boxes.map((box, i) => ({ name: names[i], box })), pressed: [] };
}

Kit.open({
  name: "sequence",
  words: { en: { title: "In order" }, zh: { title: "顺序" } },
  make,
  view: (m) => h("main", {}, m.buttons.map(({ name, box }) =>
    button(name, name, () => m.pressed.push(name), { style: Scatter.style(box), "aria-pressed": String(m.pressed.includes(name)) }))),
});
