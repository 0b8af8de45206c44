// A museum's archive: a search that finds a few entries a page, and a document for every entry.
"use strict";

const { h, t, input, path, href, go } = Kit;

const KINDS = { en: ["clock", "globe", "lute", "vase", "map", "mask"], zh: ["钟", "地球仪", "琵琶", "花瓶", "地图", "面具"] };
const CITIES = { en: ["Arnheim", "Bellport", "Corvale", "Dunmore", "Eastwick"], zh: ["安陵", "碧港", "清谷", "登云", "东苑"] };
const LOOKS = { en: ["Gilded", "Painted", "Plain", "Cracked", "Tiny", "Carved"], zh: ["镀金", "彩绘", "素面", "开裂", "小巧", "雕花"] };
const PAGE = 5;

function found(m, words) {
  const all = words.toLowerCase().split(/\s+/).filter(Boolean);
  return m.entries.filter((one) => all.every((word) => `${one.title} ${one.kind} ${one.city}`.toLowerCase().includes(word)));
}

const line = (one) => h("li.hit", { "data-key": one.id }, h("a", { at: `entry-${one.id}`, href: href("entry", one.id) }, one.title), h("span.soft.small", {}, t("from", one.kind, one.city)));

function results(m, words, page) {
  const hits = found(m, words), last = Math.max(1, Math.ceil(hits.length / PAGE));
  const turn = (to, at) => (to < 1 || to > last ? h("span") : h("a", { at, href: href("search", words, to) }, t(at)));
  return h("section", {}, h("h1", {}, t(hits.length === 1 ? "hit" : "hits", hits.length, words)), h("ul.card", {}, hits.slice((page - 1) * PAGE, page * PAGE).map(line)), h("div.spread", {}, turn(page - 1, "earlier"), h("span.soft.small", {}, t("page", page, last)), turn(page + 1, "later")));
}

const entry = (m, one) => h("article.card", {}, h("h1", {}, one.title), h("table", {}, ["kind", "city", "year", "weight", "shelf", "giver"].map((key) => h("tr", {}, h("th", { scope: "row" }, t(key)), h("td", {}, key === "weight" ? `${one.weight} g` : one[key])))));

const home = () => h("section.card", {}, h("h1", {}, t("welcome")), h("p", {}, t("about")));

function page(m) {
  const [room, what, number] = path();
  if (room === "search" && what) return results(m, what, Number(number) || 1);
  const one = room === "entry" && m.entries.find((e) => e.id === Number(what));
  return one ? entry(m, one) : home();
}

function make(rng, task) {
  const { slots, language, level } = task, names = People.names();
  const one = (kind, city) => ({ kind, city, title: `${rng.pick(LOOKS[language])}${language === "en" ? " " : ""}${kind}`, year: rng.int(1480, 1890), weight: rng.int(12, 940) * 10, shelf: `${rng.pick([..."ABCDEFGH"])}${rng.int(10, 99)}`, giver: rng.pick(names) });
  const target = level === 1 ? 1 : level === 2 ? rng.int(2, 9) : rng.int(3, 6);
  const entries = Array.from({ length: target }, () => one(slots.kind, slots.city));
  for (const kind of KINDS[language]) for (const city of CITIES[language]) {
    if (kind === slots.kind && city === slots.city) continue;
    for (let i = rng.int(1, 3); i > 0; i--) entries.push(one(kind, city));
  }
  if (level === 3) {
    rng.shuffle(entries.slice(0, target)).forEach((e, i) => (e.weight = 500 + i * 730 + rng.int(0, 30) * 10));
    const givers = rng.shuffle(names);
    entries.slice(0, target).forEach((e, i) => (e.giver = givers[i]));
  }
  return { entries: rng.shuffle(entries).map((e, i) => ({ id: i + 100, ...e })), words: "", read: [] };
}

Kit.open({
  name: "archive",
  documents: true,
  words: {
    en: { title: "Harbour Museum archive", welcome: "The archive of the Harbour Museum", about: "Search by kind, by place, or by both. Every entry has a page of its own.", search: "Search the archive", find: "Search", hit: "{0} entry for “{1}”", hits: "{0} entries for “{1}”", from: "{0}, from {1}", earlier: "Earlier entries", later: "More entries", page: "Page {0} of {1}", kind: "Kind", city: "From", year: "Year", weight: "Weight", shelf: "Shelf", giver: "Given by" },
    zh: { title: "港口博物馆档案", welcome: "港口博物馆档案室", about: "可按种类、地点或两者一起搜索。每个条目都有自己的页面。", search: "搜索档案", find: "搜索", hit: "“{1}”共 {0} 条", hits: "“{1}”共 {0} 条", from: "{0}，来自{1}", earlier: "上一页", later: "下一页", page: "第 {0} 页，共 {1} 页", kind: "种类", city: "来自", year: "年份", weight: "重量", shelf: "架号", giver: "捐赠人" },
  },
  make,
  arrived: (m) => {
    m.words = path()[0] === "search" ? (path()[1] ?? "") : m.words;
    if (path()[0] === "entry" && !m.read.includes(Number(path()[1]))) m.read.push(Number(path()[1]));
  },
  view: (m) => h("div", {}, h("header.bar", {}, h("a.brand", { at: "home", href: href() }, t("title")), h("span.room"),
    h("form.row.tight", { on: { submit: (e) => (e.preventDefault(), m.words.trim() && go("search", m.words.trim())) } }, h("div.search", {}, input("search", m.words, (v) => (m.words = v), { placeholder: t("search"), "aria-label": t("search") })), h("button", { at: "find", type: "submit" }, t("find")))), h("main", {}, page(m))),
});
