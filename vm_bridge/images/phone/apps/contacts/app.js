/** Contacts: a list to search, a person's page, a form, deleting by holding. */
import { h, icon } from "../shared/element.js";
import { back, change, go, mine, now, open, replace, run, say, t } from "../shared/phone.js";
import { avatar, bar, body, button, confirm, empty, fab, field, iconButton, row, searchable } from "../shared/ui.js";

const byName = (one, other) => one.name.localeCompare(other.name, "en");
const personOf = (id) => mine().people.find((person) => person.id === id);

const line = (person) =>
  row({
    lead: avatar(person.name),
    title: person.name,
    trail: person.favourite ? icon("star", true) : null,
    ontap: () => go("person", person.id),
    onhold: () => remove(person),
  });

function found(words) {
  const people = mine().people.filter(({ name, phone }) => `${name} ${phone}`.toLowerCase().includes(words)).sort(byName);
  return people.length ? people.map(line) : empty(t("Nobody found", "没有找到联系人"));
}

function remove(person, then) {
  confirm(t("Delete contact?", "删除联系人？"), person.name, t("Delete", "删除"), () => {
    change((contacts) => (contacts.people = contacts.people.filter(({ id }) => id !== person.id)));
    then?.();
    say(t("Contact deleted", "已删除联系人"));
  });
}

function home() {
  return [
    bar(t("Contacts", "通讯录")),
    body(searchable(t("Search contacts", "搜索联系人"), found)),
    fab("add", t("New contact", "新建联系人"), () => go("edit")),
  ];
}

function person(id) {
  const shown = personOf(id);
  if (!shown) return [bar("", { onback: back }), body(empty(t("This contact is gone", "该联系人已不存在")))];
  const star = () => change(() => (shown.favourite = !shown.favourite));
  const call = () => {
    change((contacts) => contacts.calls.push({ person: id, at: now() }));
    say(t(`Calling ${shown.name}…`, `正在呼叫 ${shown.name}…`));
  };
  return [
    bar("", {
      onback: back,
      actions: [
        iconButton("star", t("Favourite", "收藏"), star, shown.favourite),
        iconButton("edit", t("Edit contact", "编辑联系人"), () => go("edit", id)),
        iconButton("bin", t("Delete contact", "删除联系人"), () => remove(shown, back)),
      ],
    }),
    body(
      avatar(shown.name, "large"),
      h("h1", { style: "text-align: center; margin-bottom: 20px" }, shown.name),
      h(
        "div.rows",
        {},
        row({ lead: icon("phone"), title: shown.phone, subtitle: t("Call", "呼叫"), ontap: call }),
        row({ lead: icon("message"), title: t("Send message", "发短信"), ontap: () => open("messages", "thread", id) }),
        shown.email && row({ lead: icon("mail"), title: shown.email, subtitle: t("Email", "电子邮件") }),
      ),
    ),
  ];
}

const drafts = new Map();

function edit(id) {
  if (!drafts.has(id)) drafts.set(id, { name: "", phone: "", email: "", ...personOf(id) });
  const draft = drafts.get(id);
  const leave = () => { drafts.delete(id); back(); };
  const save = () => {
    if (!draft.name.trim()) return say(t("A contact needs a name", "请填写姓名"));
    drafts.delete(id);
    const kept = { ...draft, name: draft.name.trim(), phone: draft.phone.trim(), email: draft.email.trim() };
    if (id) change((contacts) => Object.assign(contacts.people.find((one) => one.id === id), kept));
    else change((contacts) => contacts.people.push({ favourite: false, ...kept, id: newId(contacts.people) }));
    if (id) back();
    else replace("person", mine().people.at(-1).id);
  };
  return [
    bar(id ? t("Edit contact", "编辑联系人") : t("New contact", "新建联系人"), { onback: leave, actions: [button(t("Save", "保存"), save, "strong")] }),
    body(
      field(t("Name", "姓名"), draft, "name", { focus: !id }),
      field(t("Phone", "电话"), draft, "phone", { type: "tel" }),
      field(t("Email", "电子邮件"), draft, "email", { type: "email" }),
    ),
  ];
}

const newId = (people) => `c${Math.max(0, ...people.map(({ id }) => Number(id.slice(1)))) + 1}`;

run({ home, person, edit });
