// A search whose results are shown in an order of their own; one of them is to be opened.
"use strict";

const { h, t, input, button } = Kit;

function make(rng, task) {
  return { results: rng.shuffle(task.slots.names.slice(1)), y: rng.int(0, 30), verb: rng.int(1, 3), query: "", found: null, opened: null };
}

const seek = (m) => m.query.trim() !== "" && m.found === null && (m.found = m.query.trim());

Kit.open({
  name: "search",
  words: { en: { title: "Search", verb1: "Search", verb2: "Go", verb3: "Find", about: "What was found for {0}", empty: "Nothing was searched for yet." }, zh: { title: "搜索", verb1: "搜索", verb2: "前往", verb3: "查找", about: "“{0}”的结果", empty: "还没有搜索。" } },
  make,
  view: (m) => h("main", { style: `padding-top:${m.y + 8}px` },
    h("form.row.tight", { on: { submit: (e) => (e.preventDefault(), seek(m)) } }, h("div.grow", {}, input("query", m.query, (v) => (m.query = v), { "aria-label": t("title") })), button("go", t(`verb${m.verb}`), () => {}, { class: "primary", type: "submit" })),
    m.found === null ? h("p.soft.small", {}, t("empty")) : h("div", {}, h("p.soft.small", {}, t("about", m.found)), h("ul", {}, m.results.map((name) => h("li.hit", {}, h("a", { at: name, href: "#", on: { click: (e) => (e.preventDefault(), (m.opened ??= name)) } }, name)))))),
});
