// A dialog over a page, one of whose buttons is to be pressed; what is below it cannot be.
"use strict";

const { h, t, button } = Kit;

function make(rng, task) {
  return { order: rng.shuffle(task.slots.names), question: rng.int(1, 4), x: rng.int(0, 90), y: rng.int(0, 70), wide: rng.int(200, 226), stacked: rng.chance(0.4), answered: null };
}

Kit.open({
  name: "dialog",
  words: {
    en: { title: "A question", below: "Nothing here can be used until the dialog is answered.", send: "Send", question1: "Which one shall it be?", question2: "What shall be opened next?", question3: "Several are there. Choose.", question4: "Please say which you mean." },
    zh: { title: "提问", below: "回应对话框之前，这里不能操作。", send: "发送", question1: "要选哪一个？", question2: "接下来打开哪个？", question3: "有好几个，请选择。", question4: "请说明是哪一个。" },
  },
  make,
  view: (m) => h("div", {}, h("main", {}, h("p.soft", {}, t("below")), button("send", t("send"), () => {})),
    h("div.veil.free", {}, h("section.dialog", { role: "dialog", "aria-modal": "true", style: `left:${m.x}px;top:${m.y}px;width:${m.wide}px` }, h("h3", {}, t(`question${m.question}`)),
      h("div.row.tight", { class: m.stacked ? "stacked" : "" }, m.order.map((name) => button(name, name, () => (m.answered ??= name), { "aria-pressed": String(m.answered === name) })))))),
});
