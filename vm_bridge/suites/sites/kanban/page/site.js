// A board of four columns whose cards are dragged.
"use strict";

const { h, t } = Kit;

const TITLES = {
  en: ["Paint fence", "Order seeds", "Fix tap", "Call bank", "Sort books", "Wash van", "Print maps", "Oil bike", "Buy stamps", "Mend coat", "Plan menu", "Tidy shed"],
  zh: ["刷篱笆", "订种子", "修水龙头", "联系银行", "整理书籍", "洗货车", "打印地图", "给车上油", "买邮票", "补大衣", "定菜单", "收拾棚子"],
};

const card = (m, { id, title, rank }) =>
  h("li.kard", { at: `card-${id}`, "data-key": id, class: m.held === id ? "held" : "", "aria-grabbed": String(m.held === id) }, h("span.grow", {}, title), h("span.rank", {}, rank));

const column = (m, name, i) => h("section.column", { at: `column-${i}`, "aria-label": name, class: m.over === i ? "over" : "" },
  h("h3", {}, name, h("span.soft.small", {}, ` ${m.columns[i].length}`)), h("ol", {}, m.columns[i].map((one) => card(m, one))));

const held = (m) => m.columns.flat().find((one) => one.id === m.held);

/** The column below a point, and the place in it: above the first card whose middle is lower. */
function placeAt(m, x, y) {
  const i = [...document.querySelectorAll(".column")].findIndex((node) => {
    const r = node.getBoundingClientRect();
    return x >= r.left && x < r.right && y >= r.top - 20;
  });
  if (i < 0) return null;
  const middles = [...document.querySelectorAll(".column")[i].querySelectorAll(".kard")].filter((node) => node.dataset.at !== `card-${m.held}`).map((node) => {
    const r = node.getBoundingClientRect();
    return r.top + r.height / 2;
  });
  return [i, middles.filter((middle) => middle < y).length];
}

addEventListener("pointerdown", (e) => {
  const node = e.target.closest?.(".kard");
  if (!node || e.button !== 0) return;
  e.preventDefault();
  Kit.model().held = Number(node.dataset.at.slice(5));
  Kit.draw();
});

addEventListener("pointermove", (e) => {
  const m = Kit.model();
  if (m.held === null) return;
  m.over = placeAt(m, e.clientX, e.clientY)?.[0] ?? null;
  Kit.draw();
});

addEventListener("pointerup", (e) => {
  const m = Kit.model(), one = held(m);
  if (!one) return;
  const place = placeAt(m, e.clientX, e.clientY);
  if (place) {
    m.columns = m.columns.map((cards) => cards.filter((c) => c.id !== one.id));
    m.columns[place[0]].splice(place[1], 0, one);
  }
  m.held = m.over = null;
  Kit.draw();
});

function make(rng, task) {
  const { picks, level } = task, to = picks.to, wanted = picks.cards[0];
  const ids = rng.shuffle(TITLES.en.map((_, i) => i)).filter((i) => level === 3 || i !== wanted);
  const cards = ids.map((id, i) => ({ id, title: TITLES[task.language][id], rank: i + 1 }));
  const sizes = rng.shuffle([2, 2, 3, 3]);
  if (level === 3) sizes[to] = 4;
  const columns = sizes.map((n) => cards.splice(0, n));
  if (level < 3) rng.pick(columns.filter((_, i) => i !== to)).push({ id: wanted, title: TITLES[task.language][wanted], rank: 12 });
  else {
    const ranks = rng.shuffle([1, 2, 3, 4]);
    if (ranks.every((r, i) => r === i + 1)) ranks.reverse();
    columns[to].forEach((one, i) => (one.rank = ranks[i]));
  }
  return { columns, before: JSON.parse(JSON.stringify(columns)), held: null, over: null };
}

Kit.open({
  name: "kanban",
  words: { en: { title: "Allotment board", columns: "Ideas|Doing|Check|Done" }, zh: { title: "菜园看板", columns: "想法|进行中|检查|完成" } },
  make,
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title"))), h("div.board", {}, t("columns").split("|").map((name, i) => column(m, name, i)))),
});
