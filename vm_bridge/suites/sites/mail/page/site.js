// A mailbox: folders, search, reading, answering, forwarding, files that go along.
"use strict";

const { h, t, input, field, note, go, path } = Kit;

const TOPICS = { en: ["the boat trip", "the spare key", "your invoice", "choir practice", "the old sofa", "the garden gate", "a lost umbrella", "Sunday lunch"], zh: ["乘船出游", "备用钥匙", "你的发票", "合唱排练", "旧沙发", "花园的门", "丢失的雨伞", "周日午餐"] };

const folderNow = () => (path()[0] === "folder" ? path()[1] : "inbox");
const open = (m) => m.mails.find((mail) => mail.id === Number(path()[1]) && path()[0] === "mail");

function listed(m) {
  const words = m.search.trim().toLowerCase(), folder = folderNow();
  return m.mails.filter((mail) => (words === "" ? mail.folder === folder : [mail.from, mail.subject, mail.body].some((v) => v.toLowerCase().includes(words))));
}

const line = (mail) => h("li", { "data-key": mail.id }, h("a.line", { at: `mail-${mail.id}`, href: Kit.href("mail", mail.id), class: mail.read ? "" : "new", on: { click: () => (mail.read = true) } },
  h("span.from", {}, mail.from), h("span.grow.cut", {}, mail.subject), h("span.soft.small.when", {}, mail.day)));

const list = (m) => h("ul.card.lines", {}, listed(m).map(line), listed(m).length ? null : h("li.soft.empty", {}, t("nothing")));

function compose(m, mail, kind) {
  m.draft = { kind, about: mail.id, to: kind === "reply" ? People.mail(mail.from) : "", text: "", file: null };
  m.asked = false;
}

function send(m) {
  const { draft } = m;
  const to = People.names().find((name) => People.mail(name) === draft.to.trim() || name === draft.to.trim());
  if (!to || draft.text.trim() === "") return (m.said = t("incomplete"));
  m.sent.push({ ...draft, to, text: draft.text.trim() });
  m.draft = null;
  m.said = t("gone", to);
}

function move(m, mail, folder) {
  mail.folder = folder;
  m.said = t(folder === "archive" ? "archived" : "deleted");
  go("folder", "inbox");
}

function attach(m, field) {
  const [file] = field.files;
  m.draft.file = file ? { name: file.name, bytes: file.size } : null;
  m.asked = false;
}

const enclosed = (m, { file }) => h("div.row", {},
  h("label.attach", { at: "attach" }, t("attach"), h("input", { type: "file", "aria-label": t("attach"), on: { click: () => (m.asked = true), change: (e) => attach(m, e.target), cancel: () => (m.asked = false) } })),
  h("span.soft.small", { role: "status" }, file ? t("attached", file.name, file.bytes) : t("none")));

function draft(m) {
  const d = m.draft;
  return h("section.card", {}, h("h2", {}, t(d.kind)),
    field(t("to"), input("to", d.to, (v) => (d.to = v), { placeholder: t("toHint") })),
    field(t("text"), h("textarea", { at: "text", rows: 3, value: d.text, on: { input: (e) => (d.text = e.target.value) } })),
    enclosed(m, d),
    h("div.row", {}, h("button.primary", { at: "send", on: { click: () => send(m) } }, t("send")), h("button", { at: "discard", on: { click: () => (m.draft = null) } }, t("discard"))));
}

const letter = (m, mail) => h("article", {}, m.draft?.about === mail.id ? draft(m) : null,
  h("div.card", {}, h("div.row.tight.deeds", {}, ["reply", "forward"].map((kind) => h("button", { at: kind, on: { click: () => compose(m, mail, kind) } }, t(kind))),
    mail.folder === "inbox" ? h("button", { at: "archive", on: { click: () => move(m, mail, "archive") } }, t("archive")) : null, h("button.danger", { at: "delete", on: { click: () => move(m, mail, "trash") } }, t("delete"))),
    h("h1", {}, mail.subject), h("p.soft", {}, `${mail.from} <${People.mail(mail.from)}> · ${mail.day}`), h("p", {}, mail.body)));

const side = (m) => h("nav.folders", { "aria-label": t("folders") }, ["inbox", "archive", "trash"].map((name) =>
  h("a.tab", { at: `folder-${name}`, href: Kit.href("folder", name), "aria-selected": String(folderNow() === name), on: { click: () => (m.search = "") } }, t(name), " ", h("span.soft.small", {}, m.mails.filter((mail) => mail.folder === name).length))));

function make(rng, task) {
  const { people, topic } = task.slots, names = People.names().slice(0, 10), topics = TOPICS[task.language];
  const subject = (about) => t(rng.pick(["s1", "s2", "s3"]), about);
  const pairs = [[people[0], topic]];
  for (const from of names) for (const about of topics) if (from !== people[0] || about !== topic) pairs.push([from, about]);
  const near = pairs.filter(([from, about]) => (from === people[0]) !== (about === topic)); // what could be taken for the one
  const chosen = [pairs[0], ...rng.shuffle(near).slice(0, 4), ...rng.shuffle(pairs.slice(1).filter((p) => !near.includes(p))).slice(0, 9)];
  const mails = rng.shuffle(chosen).map(([from, about], i) => ({ id: i + 1, from, about, subject: subject(about), body: t(rng.pick(["b1", "b2", "b3"]), about), day: t("day", 28 - i), folder: "inbox", read: rng.chance(0.5) }));
  for (const mail of mails) if (mail.from !== people[0] && rng.chance(0.15)) mail.folder = "archive";
  return { mails, before: mails.map(({ id, folder }) => ({ id, folder })), search: "", draft: null, asked: false, sent: [], said: "" };
}

Kit.open({
  name: "mail",
  words: {
    en: { title: "Post office", inbox: "Inbox", archive: "Archive", trash: "Bin", folders: "Folders", search: "Search mail", reply: "Reply", forward: "Forward", delete: "Delete", to: "To", toHint: "Name or address", text: "Message", send: "Send", attach: "Attach a file", attached: "{0} ({1} bytes)", none: "No file goes along.", discard: "Discard", nothing: "Nothing here.", incomplete: "A known receiver and a message are needed.", gone: "Sent to {0}.", archived: "Archived.", deleted: "Moved to the bin.", day: "May {0}", s1: "About {0}", s2: "Question: {0}", s3: "News of {0}", b1: "Hello, I wanted to write to you about {0}. Let me know what you think.", b2: "A short word about {0}: could you get back to me this week?", b3: "There is something new with {0}. I will tell you more when we meet." },
    zh: { title: "小邮局", inbox: "收件箱", archive: "归档", trash: "回收站", folders: "文件夹", search: "搜索邮件", reply: "回复", forward: "转发", delete: "删除", to: "收件人", toHint: "姓名或地址", text: "内容", send: "发送", attach: "添加附件", attached: "{0}（{1} 字节）", none: "没有附件。", discard: "放弃", nothing: "这里没有邮件。", incomplete: "需要认识的收件人和内容。", gone: "已发送给{0}。", archived: "已归档。", deleted: "已移到回收站。", day: "5月{0}日", s1: "关于{0}", s2: "请问：{0}", s3: "{0}的新消息", b1: "你好，想跟你说说{0}的事，告诉我你的想法。", b2: "关于{0}说两句：这周能回复我吗？", b3: "{0}有新情况，见面再细说。" },
  },
  make,
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title")), h("span.room"), h("div.search", {}, input("search", m.search, (v) => ((m.search = v), path()[0] === "mail" && go("folder", "inbox")), { placeholder: t("search"), "aria-label": t("search") }))),
    h("main", {}, note(m.said), h("div.sides", {}, side(m), h("div.grow", {}, open(m) ? letter(m, open(m)) : list(m))))),
});
