// Boxes of which two are to be ticked, and no other; OK ends it.
"use strict";

const { h, t, tick, button } = Kit;

function make(rng, task) {
  return { order: rng.shuffle(task.slots.names), ticked: [], x: rng.int(0, 70), y: rng.int(0, 24), confirmed: false };
}

const keep = (m, name, on) => (m.ticked = on ? [...m.ticked, name] : m.ticked.filter((other) => other !== name));

Kit.open({
  name: "checklist",
  words: { en: { title: "List", ok: "OK" }, zh: { title: "清单", ok: "好" } },
  make,
  view: (m) => h("main", { style: `padding:${m.y + 8}px 8px 8px ${m.x + 8}px` },
    h("ul", {}, m.order.map((name) => h("li", {}, tick(name, name, m.ticked.includes(name), (on) => keep(m, name, on))))),
    h("div.row", {}, button("ok", t("ok"), () => (m.confirmed = true), { class: "primary" }))),
});
