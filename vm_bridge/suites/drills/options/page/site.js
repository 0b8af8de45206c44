// One of several to be chosen, and confirmed.
"use strict";

const { h, t, button } = Kit;

function make(rng, task) {
  return { order: rng.shuffle(task.slots.names), verb: rng.int(1, 4), x: rng.int(0, 70), y: rng.int(0, 30), chosen: null, confirmed: null };
}

Kit.open({
  name: "options",
  words: { en: { title: "Choice", verb1: "OK", verb2: "Confirm", verb3: "Done", verb4: "Continue" }, zh: { title: "选择", verb1: "好", verb2: "确认", verb3: "完成", verb4: "继续" } },
  make,
  view: (m) => h("main", { style: `padding:${m.y + 8}px 8px 8px ${m.x + 8}px` },
    h("ul", { role: "radiogroup" }, m.order.map((name) => h("li", {}, h("label.tick", { at: name }, h("input", { type: "radio", name: "one", checked: m.chosen === name, on: { change: () => (m.chosen = name) } }), h("span", {}, name))))),
    h("div.row", {}, button("confirm", t(`verb${m.verb}`), () => m.chosen !== null && (m.confirmed ??= m.chosen), { class: "primary" }))),
});
