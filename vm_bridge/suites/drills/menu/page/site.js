// A bar of menus that drop down; an entry of one of them is to be chosen.
"use strict";

const { h, t } = Kit;

const MENUS = 3;

function make(rng, task) {
  const { names } = task.slots, heads = [names[0], ...names.slice(2, 1 + MENUS)];
  const rest = names.slice(1 + MENUS), per = Math.ceil((rest.length + 1) / MENUS);
  const entries = Object.fromEntries(heads.map((name, i) => [name, i === 0 ? [names[1], ...rest.slice(0, per - 1)] : rest.slice(i * per - 1, (i + 1) * per - 1)]));
  for (const name of heads) entries[name] = rng.shuffle(entries[name]);
  return { heads: rng.shuffle(heads), entries, open: null, chosen: null };
}

Kit.open({
  name: "menu",
  words: { en: { title: "Menus", text: "Everything here is done from the menus." }, zh: { title: "菜单", text: "这里的一切都通过菜单完成。" } },
  make,
  view: (m) => h("div", {}, h("nav.menus", { role: "menubar" }, m.heads.map((name) => h("div.menu", { "data-key": name },
    h("button.bare", { at: name, role: "menuitem", "aria-expanded": String(m.open === name), on: { click: () => (m.open = m.open === name ? null : name) } }, name),
    m.open === name ? h("ul.drop", { role: "menu" }, m.entries[name].map((entry) => h("li", { role: "none" }, h("button.bare", { at: `${name}/${entry}`, role: "menuitem", on: { click: () => ((m.chosen ??= { menu: name, entry }), (m.open = null)) } }, entry)))) : null))),
    h("main", {}, h("p.soft", {}, t("text")))),
});
