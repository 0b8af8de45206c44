// A list of names; a click on one opens a field for a new name, which is saved.
"use strict";

const { h, t, input, button } = Kit;

function make(rng, task) {
  const { names } = task.slots;
  return { items: rng.shuffle([names[0], ...names.slice(2)]).map((name) => ({ name, now: name })), y: rng.int(0, 24), editing: null, text: "", saved: null };
}

const edit = (m, name) => m.saved === null && ((m.editing = name), (m.text = ""));

function save(m) {
  if (m.text === "" || m.saved !== null) return;
  m.items.find((one) => one.name === m.editing).now = m.text;
  m.saved = { of: m.editing, as: m.text };
  m.editing = null;
}

const line = (m, { name, now }) => (m.editing === name
  ? h("form.row.tight", { "data-key": `${name}-edited`, on: { submit: (e) => (e.preventDefault(), save(m)) } }, h("div.grow", {}, input("name", m.text, (v) => (m.text = v), { placeholder: name, "aria-label": t("name") })), button("save", t("save"), () => {}, { class: "primary", type: "submit" }))
  : h("button.bare.entry", { at: name, "data-key": name, on: { click: () => edit(m, name) } }, now));

Kit.open({
  name: "rename",
  words: { en: { title: "Names", name: "New name", save: "Save" }, zh: { title: "名称", name: "新名称", save: "保存" } },
  make,
  drawn: (m) => m.editing !== null && document.querySelector('[data-at="name"]')?.focus(),
  view: (m) => h("main", { style: `padding-top:${m.y + 8}px` }, h("ul.card", {}, m.items.map((one) => h("li", {}, line(m, one))))),
});
