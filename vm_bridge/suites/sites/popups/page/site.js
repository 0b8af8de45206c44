// Recipes, and what gets in their way: cookies, a newsletter, an offer, each at a time of its own.
"use strict";

const { h, t, input, dialog, note, path, href } = Kit;

const RECIPES = { en: ["Lentil soup", "Plum cake", "Potato salad", "Onion tart", "Rye bread"], zh: ["扁豆汤", "李子蛋糕", "土豆沙拉", "洋葱挞", "黑麦面包"] };

const foremost = (m) => m.shown[0] ?? null;
const close = (m) => m.shown.shift();

function raise(m, name) {
  if (!m.raised.includes(name)) {
    m.raised.push(name);
    m.shown.push(name);
    Kit.draw();
  }
}

/** Each interruption comes when its moment has come: at once, after a while, or after the first deed. */
function begun(m) {
  for (const [name, ms] of m.timed) setTimeout(() => raise(m, name), ms);
}

const deed = (m) => (m.level > 1 ? raise(m, "letter") : null, m.level > 2 && m.done++ > 0 ? raise(m, "club") : null);

const windows = {
  cookies: (m) => dialog(t("cookies"), h("p", {}, t("cookiesText")), m.more
    ? h("div", {}, ["measure", "adverts"].map((name) => h("label.tick", { at: `${name}-box` }, h("input", { type: "checkbox", checked: m.allow[name], on: { change: (e) => (m.allow[name] = e.target.checked) } }), h("span", {}, t(name)))), h("div", {}, h("button.primary", { at: "cookies-save", on: { click: () => ((m.cookies = m.allow.measure || m.allow.adverts ? "more" : "necessary"), close(m)) } }, t("keep"))))
    : h("div.row", {}, h("button.primary", { at: "cookies-all", on: { click: () => ((m.cookies = "all"), close(m)) } }, t("all")), m.hidden
      ? h("button.bare", { at: "cookies-more", on: { click: () => (m.more = true) } }, t("moreChoice"))
      : h("button", { at: "cookies-necessary", on: { click: () => ((m.cookies = "necessary"), close(m)) } }, t("necessary")))),
  letter: (m) => dialog(t("letter"), h("button.bare.corner", { at: "letter-close", "aria-label": t("close"), on: { click: () => close(m) } }, "✕"), h("p", {}, t("letterText")),
    h("div.row", {}, h("div.grow", {}, input("letter-mail", m.mail, (v) => (m.mail = v), { placeholder: "name@example.org", "aria-label": t("mail") })), h("button.primary", { at: "letter-join", on: { click: () => ((m.joined = true), close(m)) } }, t("join")))),
  club: (m) => dialog(t("club"), h("p", {}, t("clubText")), h("div.row", {}, h("button.primary", { at: "club-buy", on: { click: () => ((m.bought = true), close(m)) } }, t("buy")), h("button.bare.small", { at: "club-no", on: { click: () => close(m) } }, t("no")))),
};

const recipe = (m, r) => h("article.card", {}, h("h1", {}, r.name), h("p.soft", {}, t("takes", r.minutes)), h("p", {}, t("method", r.name)),
  h("div.row.tight", { role: "group", "aria-label": t("rate") }, [1, 2, 3, 4, 5].map((n) => h("button.bare.star", { at: `star-${n}`, "aria-label": t("stars", n), "aria-pressed": String(r.stars === n), on: { click: () => ((r.stars = n), deed(m)) } }, n <= r.stars ? "★" : "☆"))),
  h("div.row", {}, h("button.primary", { at: "save", "aria-pressed": String(r.saved), on: { click: () => ((r.saved = !r.saved), deed(m)) } }, t(r.saved ? "saved" : "save")), h("a", { at: "list", href: href() }, t("list"))));

const list = (m) => h("ul.card", {}, m.recipes.map((r) => h("li.entry", { "data-key": r.id }, h("a.grow", { at: `recipe-${r.id}`, href: href("recipe", r.id), on: { click: () => deed(m) } }, r.name), h("span.soft.small", {}, r.saved ? t("saved") : t("takes", r.minutes)))));

function make(rng, task) {
  const recipes = rng.shuffle(RECIPES[task.language].map((name, id) => ({ id, name, minutes: rng.int(3, 18) * 5, stars: 0, saved: false })));
  const timed = [["cookies", rng.int(0, 2) * 400]];
  return { level: task.level, recipes, timed, raised: [], shown: [], more: false, hidden: task.level > 1 && rng.chance(0.6), allow: { measure: true, adverts: true }, cookies: null, mail: "", joined: false, bought: false, done: 0 };
}

Kit.open({
  name: "popups",
  words: {
    en: { title: "The Spoon", cookies: "We value your privacy", cookiesText: "We and 214 partners would like to use cookies.", all: "Allow all", necessary: "Only necessary ones", moreChoice: "More choices", measure: "Measuring", adverts: "Advertising", keep: "Keep my choice", letter: "Never miss a recipe", letterText: "Eleven thousand cooks read our newsletter.", mail: "E-mail", join: "Join", close: "Close", club: "Spoon Club", clubText: "Cook without advertising for 3.90 a month.", buy: "Become a member", no: "No, thank you", takes: "{0} minutes", method: "Wash, cut and season everything for {0}, then let it take its time.", rate: "Rating", stars: "{0} stars", save: "Save", saved: "Saved", list: "All recipes", advert: "Advertisement: win a kitchen" },
    zh: { title: "小勺子", cookies: "我们重视您的隐私", cookiesText: "我们和 214 家伙伴希望使用 Cookie。", all: "全部允许", necessary: "只用必要的", moreChoice: "更多选项", measure: "统计", adverts: "广告", keep: "保存选择", letter: "不错过每道菜", letterText: "一万一千位厨友在读我们的电子报。", mail: "邮箱", join: "订阅", close: "关闭", club: "勺子会员", clubText: "每月 3.90，无广告做菜。", buy: "加入会员", no: "不用了，谢谢", takes: "{0} 分钟", method: "把做{0}的材料洗净切好调味，然后慢慢来。", rate: "评分", stars: "{0} 星", save: "收藏", saved: "已收藏", list: "全部菜谱", advert: "广告：赢取整套厨房" },
  },
  make,
  begun,
  view: (m) => {
    const one = path()[0] === "recipe" && m.recipes.find((r) => r.id === Number(path()[1]));
    return h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title"))), h("main", {}, one ? recipe(m, one) : list(m), m.level > 1 ? note(t("advert")) : null), foremost(m) ? windows[foremost(m)](m) : null);
  },
});
