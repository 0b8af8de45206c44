// A form whose fields have names that are drawn; some are to be filled in, the others stay empty.
"use strict";

const { h, t, field, input, button } = Kit;

function make(rng, task) {
  const order = rng.shuffle(task.slots.labels);
  return { order, form: Object.fromEntries(order.map((label) => [label, ""])), width: rng.int(150, 270), x: rng.int(0, 30), y: rng.int(0, 20), saved: null };
}

Kit.open({
  name: "form",
  words: { en: { title: "Form", save: "Save" }, zh: { title: "表单", save: "保存" } },
  make,
  view: (m) => h("main", { style: `padding:${m.y + 6}px 8px 8px ${m.x + 8}px` }, h("div", { style: `width:${m.width}px` },
    m.order.map((label) => field(label, input(label, m.form[label], (v) => (m.form[label] = v)))),
    h("div.row", {}, button("save", t("save"), () => (m.saved ??= { ...m.form }), { class: "primary" })))),
});
