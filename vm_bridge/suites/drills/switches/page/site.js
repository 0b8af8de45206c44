// Lines with a switch each; the one asked for is off and is to be on. A line can be clicked anywhere.
"use strict";

const { h } = Kit;

function make(rng, task) {
  const [asked] = task.slots.names;
  return { lines: rng.shuffle(task.slots.names).map((name) => ({ name, on: name !== asked && rng.chance(0.5) })), left: rng.chance(0.4), turned: null };
}

Kit.open({
  name: "switches",
  words: { en: { title: "Settings" }, zh: { title: "设置" } },
  make,
  view: (m) => h("main", {}, h("ul.card", {}, m.lines.map((line) => {
    const knob = h("span.switch", { role: "switch", "aria-checked": String(line.on), "aria-label": line.name }, h("span.knob"));
    const turn = () => m.turned === null && ((m.turned = line.name), (line.on = !line.on));
    return h("li.line", { on: { click: turn } }, m.left ? knob : null, h("span", { at: line.name }, line.name), h("span.room"), m.left ? null : knob);
  }))),
});
