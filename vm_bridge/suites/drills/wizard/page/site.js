// Two pages with a choice each; what was chosen is kept, and the last page finishes it.
"use strict";

const { h, t, button } = Kit;

function make(rng, task) {
  const { names } = task.slots;
  const pages = [0, 1].map((page) => rng.shuffle(names.filter((_, i) => i % 2 === page)));
  return { pages, page: 0, chosen: [null, null], x: rng.int(0, 60), y: rng.int(0, 20), finished: null };
}

function next(m) {
  if (m.chosen[m.page] === null) return;
  if (m.page === 0) m.page = 1;
  else m.finished ??= [...m.chosen];
}

Kit.open({
  name: "wizard",
  words: { en: { title: "Wizard", step: "Page {0} of 2", back: "Back", next: "Next", finish: "Finish" }, zh: { title: "向导", step: "第 {0} 页，共 2 页", back: "上一步", next: "下一步", finish: "完成" } },
  make,
  view: (m) => h("main", { style: `padding:${m.y + 6}px 8px 8px ${m.x + 8}px` }, h("p.soft.small", {}, t("step", m.page + 1)),
    h("ul", { role: "radiogroup" }, m.pages[m.page].map((name) => h("li", { "data-key": name }, h("label.tick", { at: name }, h("input", { type: "radio", name: "one", checked: m.chosen[m.page] === name, on: { change: () => (m.chosen[m.page] = name) } }), h("span", {}, name))))),
    h("div.row", {}, m.page === 1 ? button("back", t("back"), () => (m.page = 0)) : null, button("next", t(m.page === 0 ? "next" : "finish"), () => next(m), { class: "primary" }))),
});
