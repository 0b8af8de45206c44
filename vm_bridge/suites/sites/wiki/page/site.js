// A small encyclopedia whose facts are dealt by the seed: every article is a document that links to others.
"use strict";

const { h, t, input, path, href, go } = Kit;

const WORKS = {
  en: [["The Lamp at Low Tide", "a lighthouse without a keeper"], ["Nine Wooden Birds", "wooden animals on a winter shelf"], ["Salt Road", "traders among hills of sand"], ["The Clockmaker's Snow", "a frost that stops every clock"], ["Under the Quince", "siblings and their orchard"], ["Letters to a Mill", "letters that a building receives"], ["The Blue Ferry", "a boat under way for seven years"], ["A Map of Rain", "a draughtsman of clouds"]],
  zh: [["退潮时的灯", "没有守塔人的灯塔"], ["九只木鸟", "冬天架子上的木头动物"], ["盐路", "沙山之间的行商"], ["钟匠的雪", "让所有的钟停摆的严寒"], ["榅桲树下", "姐妹俩和她们的果园"], ["写给磨坊的信", "一座房子收到的来信"], ["蓝色渡船", "在路上走了七年的船"], ["雨的地图", "一位画云的人"]],
};
const RIVERS = { en: ["Alder", "Brenta", "Cole", "Dray", "Esk"], zh: ["桤河", "布河", "柯河", "德河", "埃河"] };
const BRIDGES = { en: ["Old Bridge", "Chain Bridge", "Long Bridge", "King's Bridge", "Stone Bridge"], zh: ["老桥", "铁索桥", "长桥", "国王桥", "石桥"] };
const KINDS = ["work", "person", "town", "river", "bridge"];

const link = (m, id) => h("a", { at: `to-${id}`, href: href("wiki", id) }, m.titles[id]);

/** A text in which [x] stands for a link to the x-th article of the list. */
const prose = (m, text, ...ids) => text.split(/\[(\d)\]/).map((piece, i) => (i % 2 ? link(m, ids[Number(piece)]) : piece));

function article(m, id) {
  const [kind, n] = id.split("-"), one = m.facts[kind]?.[Number(n)];
  if (!one) return h("p", {}, t("missing"));
  const body = {
    work: () => prose(m, t("workText", one.clue, one.year), one.author),
    person: () => [prose(m, t("personText", one.year), one.town), h("br"), prose(m, t("learned"), one.teacher), one.works.length ? [h("br"), t("wrote"), one.works.map((work, i) => [i ? ", " : "", link(m, work)])] : null],
    town: () => prose(m, t("townText", one.year, one.people), one.river),
    river: () => prose(m, t("riverText", one.length), one.bridge),
    bridge: () => prose(m, t("bridgeText", one.year), one.river, one.builder),
  }[kind]();
  return h("article.card", {}, h("h1", {}, m.titles[id]), h("p.soft.small", {}, t(kind)), h("p", {}, body));
}

const lines = (m, ids) => h("ul.card.index", {}, ids.map((id) => h("li", { "data-key": id }, link(m, id), " ", h("span.soft.small", {}, t(id.split("-")[0])))));
const all = (m) => KINDS.flatMap((kind) => m.facts[kind].map((_, i) => `${kind}-${i}`));

function hits(m, words) {
  const text = (id) => `${m.titles[id]} ${m.facts[id.split("-")[0]][Number(id.split("-")[1])].clue ?? ""}`.toLowerCase();
  return all(m).filter((id) => words.toLowerCase().split(/\s+/).filter(Boolean).every((word) => text(id).includes(word)));
}

function page(m) {
  const [room, what] = path();
  if (room === "wiki" && what) return article(m, what);
  if (room === "list" && KINDS.includes(what)) return [h("h1", {}, t(`${what}s`)), lines(m, all(m).filter((id) => id.startsWith(what)))];
  if (room === "search" && what) return [h("h1", {}, t("found", what)), lines(m, hits(m, what))];
  return h("section.card", {}, h("h1", {}, t("welcome")), h("p", {}, t("about")), h("ul", {}, KINDS.map((kind) => h("li", {}, h("a", { at: `list-${kind}`, href: href("list", kind) }, t(`${kind}s`))))));
}

function make(rng, task) {
  const { language } = task, names = People.names().slice(0, 16), towns = People.cities(), years = rng.shuffle(Array.from({ length: 60 }, (_, i) => 1105 + i * 11 + rng.int(0, 9)));
  const person = names.map(() => ({ year: rng.int(1810, 1910), town: `town-${rng.int(0, towns.length - 1)}`, teacher: null, works: [] }));
  person.forEach((one, i) => (one.teacher = `person-${(i + rng.int(1, 15)) % 16}`));
  const authors = rng.shuffle(names.map((_, i) => i)), engineers = rng.shuffle(names.map((_, i) => i));
  const work = WORKS[language].map(([, clue], i) => ({ clue, year: rng.int(1840, 1950), author: `person-${authors[i]}` }));
  work.forEach((one, i) => person[Number(one.author.slice(7))].works.push(`work-${i}`));
  const flows = rng.shuffle([0, 1, 2, 3, 4, 0, 1, 2, 3, 4]);
  const town = towns.map((_, i) => ({ year: years[i], people: rng.int(20, 900) * 100, river: `river-${flows[i]}` }));
  const spans = rng.shuffle([0, 1, 2, 3, 4]);
  const river = RIVERS[language].map((_, i) => ({ length: 60 + i * 47 + rng.int(0, 40), bridge: `bridge-${spans[i]}` }));
  const bridge = BRIDGES[language].map((_, i) => ({ year: years[20 + i], river: `river-${spans.indexOf(i)}`, builder: `person-${engineers[i]}` }));
  const facts = { work, person, town, river, bridge }, titles = {};
  const named = { work: WORKS[language].map(([title]) => title), person: names, town: towns, river: RIVERS[language], bridge: BRIDGES[language] };
  for (const kind of KINDS) facts[kind].forEach((_, i) => (titles[`${kind}-${i}`] = named[kind][i]));
  return { facts, titles, words: "", read: [] };
}

Kit.open({
  name: "wiki",
  documents: true,
  words: {
    en: { title: "Lowland Wiki", welcome: "Lowland Wiki", about: "The free encyclopedia of the lowlands: people, works, towns, rivers and bridges.", search: "Search", find: "Search", found: "Articles with “{0}”", missing: "There is no such article.", work: "Work", person: "Person", town: "Town", river: "River", bridge: "Bridge", works: "Works", persons: "People", towns: "Towns", rivers: "Rivers", bridges: "Bridges", workText: "A story of {0}, published in {1}. It was written by [0].", personText: "Born in {0} in [0].", learned: "Learned from [0].", wrote: "Works: ", townText: "Founded in {0}; {1} people live here. The town lies on the river [0].", riverText: "The river is {0} kilometres long. It is crossed by the [0].", bridgeText: "Opened in {0}, it crosses the river [0]. It was built by [1]." },
    zh: { title: "低地维基", welcome: "低地维基", about: "低地地区的自由百科：人物、作品、城镇、河流与桥梁。", search: "搜索", find: "搜索", found: "含有“{0}”的条目", missing: "没有这个条目。", work: "作品", person: "人物", town: "城镇", river: "河流", bridge: "桥梁", works: "作品", persons: "人物", towns: "城镇", rivers: "河流", bridges: "桥梁", workText: "讲述{0}的故事，出版于 {1} 年。作者是[0]。", personText: "{0} 年生于[0]。", learned: "师从[0]。", wrote: "作品：", townText: "建于 {0} 年，有 {1} 名居民，位于[0]河畔。", riverText: "全长 {0} 公里，河上有[0]。", bridgeText: "{0} 年通行，横跨[0]，由[1]建造。" },
  },
  make,
  arrived: (m) => {
    if (path()[0] === "wiki" && path()[1] && !m.read.includes(path()[1])) m.read.push(path()[1]);
  },
  view: (m) => h("div", {}, h("header.bar", {}, h("a.brand", { at: "home", href: href() }, t("title")), h("span.room"),
    h("form.row.tight", { on: { submit: (e) => (e.preventDefault(), m.words.trim() && go("search", m.words.trim())) } }, h("div.search", {}, input("search", m.words, (v) => (m.words = v), { "aria-label": t("search"), placeholder: t("search") })), h("button", { at: "find", type: "submit" }, t("find")))), h("main", {}, page(m))),
});
