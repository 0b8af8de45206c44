// A message to which files are attached through a dialog the page draws itself.
"use strict";

const { h, t, dialog, note } = Kit;

const TOPS = { en: ["Documents", "Pictures", "Projects"], zh: ["文档", "图片", "项目"] };
const SUBS = { en: ["Spring", "Harbour", "Museum", "Invoices"], zh: ["春天", "港口", "博物馆", "发票"] };
const FILES = { en: ["report", "plan", "letter", "photo", "notes", "list"], zh: ["报告", "计划", "信件", "照片", "笔记", "清单"] };
const ENDS = [".pdf", ".txt", ".png", ".odt"];

const folder = (m, place) => place.reduce((at, name) => at.folders.find((f) => f.name === name), m.tree);
const key = (place, file) => [...place, file.name].join("/");

function toggle(m, file) {
  const at = key(m.place, file);
  m.marked = m.marked.includes(at) ? m.marked.filter((one) => one !== at) : [...m.marked, at];
}

function enter(m, place) {
  m.place = place;
  m.marked = [];
}

function picker(m) {
  const here = folder(m, m.place);
  const crumbs = [["", []], ...m.place.map((name, i) => [name, m.place.slice(0, i + 1)])];
  const fold = (f) => h("li", { "data-key": f.name }, h("button.entry", { at: `folder-${f.name}`, on: { click: () => enter(m, [...m.place, f.name]) } }, h("span.icon", { "aria-hidden": "true" }, "▣"), h("span.grow", {}, f.name), h("span.soft", {}, "›")));
  const file = (f) => h("li", { "data-key": f.name }, h("button.entry", { at: `file-${f.name}`, "aria-pressed": String(m.marked.includes(key(m.place, f))), on: { click: () => toggle(m, f) } },
    h("span.icon", { "aria-hidden": "true" }, "▤"), h("span.grow", {}, f.name), h("span.soft.small.num", {}, f.date), h("span.soft.small.num", {}, `${f.size} KB`)));
  return dialog(t("pick"),
    h("nav.row.tight", { "aria-label": t("place") }, crumbs.map(([name, place], i) => h("button.bare", { at: `crumb-${i}`, on: { click: () => enter(m, place) } }, name || t("home")))),
    h("ul.list", {}, here.folders.map(fold), here.files.map(file)),
    h("div.row", {}, h("span.soft.small.grow", {}, t("marked", m.marked.length)), h("button", { at: "cancel", on: { click: () => (m.open = false) } }, t("cancel")),
      h("button.primary", { at: "take", disabled: m.marked.length === 0, on: { click: () => take(m) } }, t("take"))));
}

function take(m) {
  m.attached = [...new Set([...m.attached, ...m.marked])];
  m.open = false;
}

function message(m) {
  return h("div.card", {},
    h("p", {}, h("span.soft", {}, t("to")), " ", m.to), h("p.grow", {}, t("body")),
    h("ul.row.tight.files", {}, m.attached.map((at) => h("li.pill", { "data-key": at }, at.split("/").at(-1), h("button.bare", { at: `remove-${at}`, "aria-label": t("remove", at), on: { click: () => (m.attached = m.attached.filter((one) => one !== at)) } }, "✕")))),
    h("div.row", {}, h("button", { at: "attach", on: { click: () => ((m.open = true), enter(m, m.last)) } }, t("attach")), h("button.primary", { at: "send", on: { click: () => m.sent.push([...m.attached]) } }, t("send"))),
    m.sent.length ? note(t("sent", m.sent.at(-1).length), "good") : null);
}

function make(rng, task) {
  const { slots, language, level } = task;
  const months = rng.shuffle([1, 2, 3, 4, 5, 6, 7, 8, 9]);
  const files = (names) => {
    const sizes = rng.shuffle([14, 37, 90, 212, 340, 655, 980]);
    return names.map((stem, i) => ({ name: stem + rng.pick(ENDS), size: sizes[i] + rng.int(0, 9), date: `2031-0${months[i]}-${rng.int(10, 28)}` }));
  };
  const some = (sure) => rng.shuffle([...(sure ? [sure] : []), ...rng.shuffle(FILES[language].filter((f) => f !== sure)).slice(0, rng.int(3, 4))]);
  const subs = (top) => rng.shuffle(SUBS[language]).map((name) => ({ name, folders: [], files: files(some(level > 1 && top === slots.top && name === slots.sub ? slots.file : null)) }));
  const tops = rng.shuffle(TOPS[language]).map((name) => ({ name, folders: subs(name), files: files(some(level === 1 && name === slots.top ? slots.file : null).slice(0, 4)) }));
  if (level === 1) {
    const top = tops.find((f) => f.name === slots.top);
    if (!top.files.some((f) => f.name.startsWith(slots.file))) top.files[0].name = slots.file + ".pdf";
  }
  const tree = { name: "", folders: tops, files: files(["readme"]) };
  const last = rng.chance(0.5) ? [] : [rng.pick(TOPS[language])];
  return { tree, place: [], last, marked: [], attached: level === 3 ? [`${tops[0].name}/${tops[0].files[0].name}`] : [], open: false, to: People.mail(rng.pick(People.names())), sent: [] };
}

Kit.open({
  name: "picker",
  words: {
    en: { title: "New message", to: "To", body: "Here are the files you asked for.", attach: "Attach files…", send: "Send", pick: "Choose files", place: "Folder", home: "Home", marked: "{0} chosen", cancel: "Cancel", take: "Attach", remove: "Remove {0}", sent: "Sent with {0} attachments." },
    zh: { title: "新邮件", to: "收件人", body: "这是你要的文件。", attach: "添加附件…", send: "发送", pick: "选择文件", place: "文件夹", home: "主目录", marked: "已选 {0} 个", cancel: "取消", take: "添加", remove: "移除 {0}", sent: "已发送，附件 {0} 个。" },
  },
  make,
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title"))), h("main", {}, message(m)), m.open ? picker(m) : null),
});
