// A door with a lock: wrong passwords, a pause after two of them, and a reset by a question.
"use strict";

const { h, t, input, field, tick, note, path, go } = Kit;

const PAUSE = 8; // seconds of the page's time

function lock(m, seconds = PAUSE) {
  m.wrong = 0;
  m.pause = seconds;
  const second = () => {
    m.pause -= 1;
    if (m.pause > 0) setTimeout(second, 1000);
    Kit.draw();
  };
  setTimeout(second, 1000);
}

function enter(m) {
  if (m.pause > 0) return;
  const { user, password } = m.form;
  if (user === "" || password === "") return (m.said = t("needed"));
  if (user === m.account.user && password === m.account.password) {
    m.inside = user;
    m.said = "";
    return go("home");
  }
  m.wrong += 1;
  m.tries.push({ user, password });
  m.form.password = "";
  m.said = user === m.account.user && m.account.old.includes(password) ? t("changed") : t("wrong");
  if (m.wrong === 2) lock(m);
}

function ask(m) {
  if (m.form.user !== m.account.user) return (m.said = t("unknown"));
  if (m.form.pet.trim() !== m.account.pet) return (m.said = t("noMatch"));
  m.said = "";
  go("reset");
  m.allowed = true;
}

function reset(m) {
  const { fresh, again } = m.form;
  if (!m.allowed) return go("forgot");
  if (fresh.length < 10 || !/\d/.test(fresh)) return (m.said = t("weak"));
  if (fresh !== again) return (m.said = t("differs"));
  m.account.old.push(m.account.password);
  m.account.password = fresh;
  m.allowed = false;
  m.form.password = "";
  m.said = t("reset");
  go("login");
}

const text = (m, name, type = "text") => field(t(name), input(name, m.form[name], (v) => (m.form[name] = v), { type: type === "password" && m.shown ? "text" : type }));
const link = (m, at, place) => h("a", { at, href: Kit.href(place), on: { click: () => (m.said = "") } }, t(at));
const said = (m) => (m.pause > 0 ? note(t("paused", m.pause), "bad") : note(m.said, m.said === t("reset") ? "good" : "bad"));
const form = (submit, ...children) => h("form.card", { novalidate: true, on: { submit: (e) => (e.preventDefault(), submit()) } }, children);

const rooms = {
  login: (m) => form(() => enter(m), h("h1", {}, t("login")), said(m), text(m, "user"), text(m, "password", "password"), tick("show", t("show"), m.shown, (v) => (m.shown = v)),
    h("div.row", {}, h("button.primary", { at: "enter", type: "submit", disabled: m.pause > 0 }, t("enter")), link(m, "lost", "forgot"))),
  forgot: (m) => form(() => ask(m), h("h1", {}, t("lost")), said(m), text(m, "user"), text(m, "pet"), h("div.row", {}, h("button.primary", { at: "ask", type: "submit" }, t("next")), link(m, "back", "login"))),
  reset: (m) => form(() => reset(m), h("h1", {}, t("new")), said(m), text(m, "fresh", "password"), text(m, "again", "password"), h("div.row", {}, h("button.primary", { at: "change", type: "submit" }, t("change")), link(m, "back", "login"))),
  home: (m) => h("div.card", {}, h("h1", {}, t("hello", m.inside)), h("p", {}, t("inside")), h("button", { at: "leave", on: { click: () => ((m.inside = null), go("login")) } }, t("leave"))),
};

function make(rng, task) {
  const { user, passwords, pet } = task.slots;
  const now = task.level === 1 ? passwords[0] : task.level === 2 ? passwords[rng.int(0, 1)] : "Unknown" + rng.int(1000, 9999);
  const old = task.level === 2 && now === passwords[1] ? [passwords[0]] : [];
  const m = { account: { user, password: now, old, pet }, form: { user: "", password: "", pet: "", fresh: "", again: "" }, wrong: task.level === 2 ? 1 : 0, tries: [], pause: 0, shown: false, allowed: false, inside: null, said: "" };
  return m;
}

Kit.open({
  name: "login",
  words: {
    en: { title: "Harbour Bank", login: "Sign in", user: "User name", password: "Password", show: "Show the password", enter: "Sign in", lost: "Forgot the password?", back: "Back", pet: "What was your first pet called?", next: "Next", new: "A new password", fresh: "New password", again: "New password again", change: "Change it", hello: "Good day, {0}", inside: "You are signed in.", leave: "Sign out", needed: "User name and password are needed.", wrong: "User name or password is wrong.", changed: "This password was changed some time ago.", paused: "Too many errors. Wait {0} seconds.", unknown: "There is no such user.", noMatch: "That is not the answer we know.", weak: "At least ten characters, one of them a digit.", differs: "The two differ.", reset: "The password is changed. Sign in with it." },
    zh: { title: "港口银行", login: "登录", user: "用户名", password: "密码", show: "显示密码", enter: "登录", lost: "忘记密码？", back: "返回", pet: "你的第一只宠物叫什么？", next: "下一步", new: "设置新密码", fresh: "新密码", again: "再次输入新密码", change: "修改", hello: "你好，{0}", inside: "你已登录。", leave: "退出", needed: "请输入用户名和密码。", wrong: "用户名或密码错误。", changed: "这个密码前些时候改过了。", paused: "错误次数过多，请等待 {0} 秒。", unknown: "没有这个用户。", noMatch: "与我们记录的答案不符。", weak: "至少十个字符，其中要有数字。", differs: "两次输入不一致。", reset: "密码已修改，请用新密码登录。" },
  },
  make,
  begun: (m) => m.pause > 0 && lock(m, m.pause),
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title"))), h("main", {}, (rooms[m.inside ? "home" : path()[0]] ?? rooms.login)(m))),
});
