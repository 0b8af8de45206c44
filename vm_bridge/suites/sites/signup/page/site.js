// A club's registration: one form, or two pages of one, checked when it is sent.
"use strict";

const { h, t, input, field, tick, choose, note } = Kit;

const COUNTRIES = { en: ["Portugal", "Kenya", "Norway", "Chile", "Japan", "Canada"], zh: ["葡萄牙", "肯尼亚", "挪威", "智利", "日本", "加拿大"] };
const PLANS = { en: ["Basic", "Family", "Studio"], zh: ["基础", "家庭", "工作室"] };

const checks = {
  name: (v) => v.trim().length >= 2 || t("needed"),
  mail: (v) => /^\S+@\S+\.\S+$/.test(v) || t("badMail"),
  phone: (v) => /^[\d +-]{6,}$/.test(v) || t("badPhone"),
  country: (v) => v !== "" || t("needed"),
  plan: (v) => v !== "" || t("needed"),
  user: (v, m) => (v.trim() === "" ? t("needed") : m.taken.includes(v) ? t("taken", v) : true),
  password: (v) => (v.length >= 10 && /\d/.test(v) && /[^\w]/.test(v)) || t("weak"),
  again: (v, m) => (v !== "" && v === m.form.password) || t("differs"),
};

function wrong(m, names) {
  m.errors = {};
  for (const name of names) {
    const found = checks[name]?.(m.form[name], m) ?? true;
    if (found !== true) m.errors[name] = found;
  }
  return Object.keys(m.errors).length > 0;
}

function forward(m) {
  if (wrong(m, m.pages[m.page])) return;
  if (m.page + 1 < m.pages.length) m.page += 1;
  else m.sent.push({ ...m.form });
}

function part(m, name) {
  const keep = (value) => (m.form[name] = value);
  const text = (props = {}) => field(t(name), input(name, m.form[name], keep, { "aria-invalid": String(name in m.errors), ...props }), m.errors[name]);
  if (name === "country") {
    const options = COUNTRIES[TASK.language].map((c) => [c, c]);
    return h("div.field", {}, h("span.label", {}, t(name)), choose(name, m.ui, options, m.form.country, keep, t("pick")), m.errors[name] ? h("span.hint", {}, m.errors[name]) : null);
  }
  if (name === "plan") {
    const one = (plan) => h("label.tick", { at: `plan=${plan}` }, h("input", { type: "radio", name: "plan", checked: m.form.plan === plan, on: { change: () => keep(plan) } }), h("span", {}, plan));
    return h("div.field", {}, h("span.label", {}, t(name)), h("div.row", { role: "radiogroup", "aria-label": t(name) }, m.plans.map(one)), m.errors[name] ? h("span.hint", {}, m.errors[name]) : null);
  }
  if (name === "news") return h("div.field", {}, tick("news", t("news"), m.form.news, keep));
  return text(name === "password" || name === "again" ? { type: "password" } : {});
}

function form(m) {
  const last = m.page + 1 === m.pages.length;
  return h("form.card", { novalidate: true, on: { submit: (e) => (e.preventDefault(), forward(m)) } },
    h("h1", {}, t("title")),
    m.pages.length > 1 ? h("p.soft", {}, t("page", m.page + 1, m.pages.length)) : null,
    m.pages[m.page].map((name) => part(m, name)),
    h("div.row", {},
      m.page > 0 ? h("button", { at: "back", on: { click: () => (m.page -= 1) } }, t("back")) : null,
      h("button.primary", { at: "send", type: "submit" }, last ? t("send") : t("next"))));
}

function sent(m) {
  const last = m.sent.at(-1);
  return h("div.card", {}, h("h1", {}, t("welcome")), note(t("thanks", last.name, last.mail), "good"),
    h("button", { at: "change", on: { click: () => ((m.page = 0), (m.open = true)) } }, t("change")));
}

Kit.open({
  name: "signup",
  words: {
    en: { title: "Become a member", name: "Full name", mail: "E-mail", phone: "Phone", country: "Country", plan: "Plan", news: "Send me the newsletter", user: "User name", password: "Password", again: "Password again", pick: "Choose a country", send: "Register", next: "Next", back: "Back", page: "Page {0} of {1}", needed: "This is needed.", badMail: "That is no e-mail address.", badPhone: "Digits and spaces, at least six.", taken: "{0} is taken.", weak: "At least ten characters with a digit and a sign.", differs: "The passwords differ.", welcome: "Welcome", thanks: "{0} is registered; a message went to {1}.", change: "Change the entries", club: "Lantern Club", about: "Lending library, workshops and a darkroom for everybody." },
    zh: { title: "成为会员", name: "姓名", mail: "邮箱", phone: "电话", country: "国家", plan: "套餐", news: "给我发送电子报", user: "用户名", password: "密码", again: "再次输入密码", pick: "请选择国家", send: "注册", next: "下一步", back: "上一步", page: "第 {0} 页，共 {1} 页", needed: "此项必填。", badMail: "邮箱格式不正确。", badPhone: "至少六位数字。", taken: "{0} 已被占用。", weak: "至少十个字符，含数字和符号。", differs: "两次密码不一致。", welcome: "欢迎", thanks: "{0} 已注册，确认信已发往 {1}。", change: "修改信息", club: "灯笼俱乐部", about: "面向所有人的借阅室、工坊和暗房。" },
  },
  make(rng, task) {
    const first = rng.shuffle(["name", "mail", "plan", ...(task.level > 1 ? ["phone", "country"] : [])]);
    if (task.level > 1) first.push("news");
    const pages = task.level > 2 ? [first, ["user", "password", "again"]] : [first];
    const form = { name: "", mail: "", phone: "", country: "", plan: "", news: rng.chance(0.5), user: "", password: "", again: "" };
    return { pages, page: 0, form, errors: {}, plans: rng.shuffle(PLANS[task.language]), taken: rng.chance(0.6) ? [task.slots.user[0]] : [], sent: [], open: false, ui: { open: null } };
  },
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("club")), h("span.soft.small.about", {}, t("about"))), h("main", {}, m.sent.length && !m.open ? sent(m) : form(m))),
});
