// A ferry line whose server is slow and fails: what is on its way, what went wrong, and what was done in spite of it.
"use strict";

const { h, t, note, path, href, draw } = Kit;

const TOWNS = { en: ["Bellport", "Corvale", "Dunmore", "Fairlea", "Ilford"], zh: ["碧港", "清谷", "登云", "锦原", "宜川"] };

/** Ask the server; `then` gets its answer, or null where none came or it was an error. */
async function ask(m, name, then) {
  if (m.waiting[name]) return;
  m.waiting[name] = true;
  m.failed[name] = null;
  let body = null;
  try {
    const answer = await fetch(`/api/${name}`, { method: "POST" });
    const said = await answer.json();
    if (answer.ok) body = said;
    else m.failed[name] = t("error", answer.status);
    if (said.kept) then(null, true);
  } catch {
    m.failed[name] = t("lost");
  }
  m.waiting[name] = false;
  if (body) then(body, false);
  draw();
}

const load = (m) => ask(m, "trips", () => (m.loaded = true));
const look = (m) => ask(m, "mine", () => (m.listed = m.kept.map((one) => ({ ...one }))));

function reserve(m) {
  const order = { id: m.chosen, seats: m.seats };
  m.asked += 1;
  ask(m, "order", (body) => {
    m.kept.push(order);
    if (body) m.chosen = null;
    if (body) m.told = t("done", order.seats, m.trips.find((one) => one.id === order.id).town);
  });
}

const spinner = (label) => h("p.wait", { role: "status", "aria-busy": "true" }, label);
const trouble = (text, at, again) => h("div.row", {}, note(text, "bad"), h("button", { at, on: { click: again } }, t("again")));

function trips(m) {
  if (m.waiting.trips) return spinner(t("loading"));
  if (m.failed.trips) return trouble(m.failed.trips, "again-trips", () => load(m));
  if (!m.loaded) return spinner(t("loading"));
  return h("ul", {}, m.trips.map((one) => h("li.trip", { "data-key": one.id }, h("span.num", {}, one.time), h("span.grow", {}, one.town), h("button", { at: `trip-${one.id}`, "aria-pressed": String(m.chosen === one.id), on: { click: () => ((m.chosen = one.id), (m.told = "")) } }, t("choose")))));
}

function order(m) {
  const one = m.trips.find((trip) => trip.id === m.chosen);
  const step = (by) => (m.seats = Math.min(9, Math.max(1, m.seats + by)));
  return h("section.card", {}, h("div.spread", {}, h("strong", {}, `${one.time} · ${one.town}`), h("div.row.tight", {}, h("button", { at: "fewer", "aria-label": t("fewer"), on: { click: () => step(-1) } }, "−"), h("output", {}, t("seats", m.seats)), h("button", { at: "more", "aria-label": t("more"), on: { click: () => step(1) } }, "+"))),
    m.waiting.order ? spinner(t("sending")) : m.failed.order ? trouble(m.failed.order, "again-order", () => reserve(m)) : h("button.primary", { at: "reserve", on: { click: () => reserve(m) } }, t("reserve")));
}

function mine(m) {
  const list = m.listed?.map((one, i) => h("li.trip", { "data-key": i }, `${m.trips.find((trip) => trip.id === one.id).time} · ${m.trips.find((trip) => trip.id === one.id).town} · ${t("seats", one.seats)}`));
  return h("section.card", {}, h("h2", {}, t("mine")), m.waiting.mine ? spinner(t("loading")) : m.failed.mine ? trouble(m.failed.mine, "again-mine", () => look(m)) : h("ul", {}, list?.length ? list : h("li.soft", {}, t("none"))), h("p", {}, h("button.bare", { at: "refresh", on: { click: () => look(m) } }, t("refresh"))));
}

function make(rng, task) {
  const times = rng.shuffle(["06:10", "07:45", "08:30", "09:05", "10:20", "11:50", "13:15", "14:40"]), towns = rng.shuffle(TOWNS[task.language].filter((town) => town !== task.slots.town));
  const goes = rng.shuffle([task.slots.town, task.slots.town, towns[0], towns[0], towns[1], towns[2]]);
  return { trips: goes.map((town, id) => ({ id, town, time: times[id] })), loaded: false, chosen: null, seats: 1, asked: 0, kept: [], listed: null, waiting: {}, failed: {}, told: "" };
}

Kit.open({
  name: "outages",
  words: {
    en: { title: "Island Ferries", trips: "Trips today", mine: "My trips", loading: "Asking the server…", sending: "Sending the reservation…", error: "The server answered with error {0}.", lost: "The connection was lost.", again: "Try again", choose: "Choose", seats: "{0} seats", fewer: "Fewer seats", more: "More seats", reserve: "Reserve", none: "No trips.", refresh: "Look again", done: "{0} seats to {1} are reserved." },
    zh: { title: "海岛渡轮", trips: "今日班次", mine: "我的行程", loading: "正在询问服务器…", sending: "正在提交预订…", error: "服务器返回错误 {0}。", lost: "连接中断。", again: "重试", choose: "选择", seats: "{0} 个座位", fewer: "减少座位", more: "增加座位", reserve: "预订", none: "没有行程。", refresh: "重新查看", done: "已预订去{1}的 {0} 个座位。" },
  },
  make,
  begun: (m) => ((m.waiting = {}), m.loaded || load(m)),
  arrived: (m) => path()[0] === "mine" && look(m),
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title")), h("span.room"), h("nav", {}, h("a", { at: "trips", href: href() }, t("trips")), h("a", { at: "mine", href: href("mine") }, t("mine")))),
    h("main", {}, path()[0] === "mine" ? mine(m) : [note(m.told, "good"), m.chosen !== null ? order(m) : null, h("section.card", {}, h("h2", {}, t("trips")), trips(m))])),
});
