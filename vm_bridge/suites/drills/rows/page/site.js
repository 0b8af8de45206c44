// Files in a list with their sizes, one of which is to be selected.
"use strict";

const { h, t } = Kit;

function make(rng, task) {
  const rows = rng.shuffle(task.slots.names).map((name) => ({ name, size: rng.int(1, 980) }));
  return { rows, striped: rng.chance(0.5), head: rng.chance(0.6), selected: null };
}

Kit.open({
  name: "rows",
  words: { en: { title: "Files", file: "File", size: "Size" }, zh: { title: "文件", file: "文件", size: "大小" } },
  make,
  view: (m) => h("main", {}, h("table.files", { class: m.striped ? "striped" : "" },
    m.head ? h("thead", {}, h("tr", {}, h("th", {}, t("file")), h("th.right", {}, t("size")))) : null,
    h("tbody", {}, m.rows.map(({ name, size }) =>
      h("tr", { "aria-selected": String(m.selected === name), on: { click: () => (m.selected ??= name) } }, h("td", {}, h("span", { at: name }, name)), h("td.right", {}, `${size} KB`)))))),
});
