/** Messages: conversations, replies, a new message; a conversation is deleted by holding or swiping it. */
import { h } from "../shared/element.js";
import { back, change, go, mine, now, part, replace, run, say, t } from "../shared/phone.js";
import { avatar, bar, body, confirm, empty, fab, iconButton, row, searchable } from "../shared/ui.js";

const people = () => part("contacts").people;
const nameOf = (id) => people().find((person) => person.id === id)?.name ?? t("Unknown", "未知");
const threadWith = (id) => mine().threads.find((thread) => thread.person === id);
const latest = (thread) => thread.messages.at(-1);

const when = (at) => (at.slice(0, 10) === now().slice(0, 10) ? at.slice(11, 16) : dayOf(at));
const dayOf = (at) => new Intl.DateTimeFormat(t("en-GB", "zh-CN"), { day: "numeric", month: "short" }).format(new Date(at));

function line(thread) {
  const name = nameOf(thread.person);
  const element = row({
    lead: avatar(name),
    title: name,
    subtitle: latest(thread)?.text ?? "",
    trail: [latest(thread) ? when(latest(thread).at) : "", thread.unread && h("span.badge", {}, "1")],
    ontap: () => go("thread", thread.person),
    onhold: () => remove(thread),
    onswipe: () => remove(thread),
  });
  if (thread.unread) element.classList.add("unread");
  return element;
}

function remove(thread) {
  confirm(t("Delete conversation?", "删除会话？"), nameOf(thread.person), t("Delete", "删除"), () => {
    change((messages) => (messages.threads = messages.threads.filter(({ id }) => id !== thread.id)));
    say(t("Conversation deleted", "已删除会话"));
  });
}

function found(words) {
  const threads = mine().threads.filter(({ person, messages }) => `${nameOf(person)} ${messages.map(({ text }) => text).join(" ")}`.toLowerCase().includes(words));
  threads.sort((one, other) => (latest(other)?.at ?? "").localeCompare(latest(one)?.at ?? ""));
  return threads.length ? threads.map(line) : empty(t("No messages", "没有短信"));
}

function home() {
  return [
    bar(t("Messages", "短信")),
    body(searchable(t("Search messages", "搜索短信"), found)),
    fab("edit", t("New message", "新短信"), () => go("compose")),
  ];
}

function compose() {
  const list = (words) =>
    people()
      .filter(({ name, phone }) => `${name} ${phone}`.toLowerCase().includes(words))
      .sort((one, other) => one.name.localeCompare(other.name, "en"))
      .map((person) => row({ lead: avatar(person.name), title: person.name, subtitle: person.phone, ontap: () => replace("thread", person.id) }));
  return [bar(t("New message", "新短信"), { onback: back }), body(searchable(t("To", "收件人"), list))];
}

function thread(person) {
  const shown = threadWith(person);
  if (shown?.unread) queueMicrotask(() => change(() => (shown.unread = false)));
  const input = h("input", { placeholder: t("Message", "短信内容"), "aria-label": t("Message", "短信内容"), autocomplete: "off" });
  const submit = () => {
    if (input.value.trim()) send(person, input.value.trim());
  };
  input.addEventListener("keydown", (event) => event.key === "Enter" && submit());
  requestAnimationFrame(() => {
    const list = document.querySelector("main");
    if (list) list.scrollTop = list.scrollHeight;
  });
  return [
    bar(nameOf(person), { onback: back }),
    body(shown ? bubbles(shown) : empty(t("Say hello", "打个招呼吧"))),
    h("div.write", {}, input, iconButton("send", t("Send", "发送"), submit, true)),
  ];
}

function bubbles(thread) {
  let day = "";
  const all = thread.messages.flatMap((message) => {
    const before = day;
    day = message.at.slice(0, 10);
    return [day !== before && h("span.day", {}, dayOf(message.at)), h(`div.bubble.${message.from}`, {}, message.text)];
  });
  return h("div.thread", {}, all);
}

function send(person, text) {
  if (part("settings").airplane) return say(t("Not sent: airplane mode is on", "未发送：飞行模式已开启"));
  return change((messages) => {
    const known = messages.threads.find((thread) => thread.person === person);
    const message = { from: "me", text, at: now() };
    if (known) known.messages.push(message);
    else messages.threads.push({ id: newId(messages.threads), person, unread: false, messages: [message] });
  });
}

const newId = (threads) => `t${Math.max(0, ...threads.map(({ id }) => Number(id.slice(1)))) + 1}`;

run({ home, compose, thread });
