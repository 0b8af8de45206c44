// Tabs above or beside a page; one of them is open, another one is to be opened.
"use strict";

const { h, t } = Kit;

function make(rng, task) {
  const order = rng.shuffle(task.slots.names);
  const others = order.filter((name) => name !== task.slots.names[0]);
  return { order, open: rng.pick(others), beside: rng.chance(0.4), below: rng.chance(0.3), lines: rng.int(1, 4), opened: false };
}

Kit.open({
  name: "tabs",
  words: { en: { title: "Tabs", text: "What stands here belongs to {0}." }, zh: { title: "标签页", text: "这里是{0}的内容。" } },
  make,
  view: (m) => {
    const bar = h("nav.strip", { role: "tablist" }, m.order.map((name) =>
      h("button.leaf", { at: name, role: "tab", "aria-selected": String(m.open === name), on: { click: () => !m.opened && m.open !== name && ((m.open = name), (m.opened = true)) } }, name)));
    const sheet = h("section.card.grow", { role: "tabpanel" }, Array.from({ length: m.lines }, () => h("p", {}, t("text", m.open))));
    return h("main.tabbed", { class: m.beside ? "beside" : "" }, m.below ? [sheet, bar] : [bar, sheet]);
  },
});
