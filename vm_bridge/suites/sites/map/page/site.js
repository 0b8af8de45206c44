// A map that is dragged and zoomed; its towns are favourites, or the stops of a route along its roads.
"use strict";

const { h, t, note } = Kit;

const W = 1000, H = 760, MODES = ["foot", "bicycle", "car"], NEAREST = 4;

/** The shortest way along the roads, in kilometres; cars may not take paths. */
function far(m, from, to) {
  const cost = { [from]: 0 }, open = new Set([from]);
  while (open.size) {
    const at = [...open].reduce((a, b) => (cost[b] < cost[a] ? b : a));
    open.delete(at);
    if (at === to) return cost[at];
    for (const road of m.roads) {
      if (!road.ends.includes(at) || (m.route.mode === "car" && road.path)) continue;
      const next = road.ends[0] === at ? road.ends[1] : road.ends[0], sum = cost[at] + road.km;
      if (cost[next] === undefined || sum < cost[next]) cost[next] = sum, open.add(next);
    }
  }
  return null;
}

function length(m) {
  const { from, via, to } = m.route, stops = [from, via, to].filter((one) => one !== null);
  if (from === null || to === null) return null;
  let sum = 0;
  for (let i = 1; i < stops.length; i++) sum += far(m, stops[i - 1], stops[i]) ?? NaN;
  return Number.isNaN(sum) ? null : sum;
}

function zoom(m, factor, at = [0.5, 0.5]) {
  const k = Math.min(NEAREST, Math.max(1, m.cam.k * factor)), size = paper();
  const wx = m.cam.x + (size.w * at[0]) / scale(m), wy = m.cam.y + (size.h * at[1]) / scale(m);
  m.cam.k = k;
  m.cam.x = wx - (size.w * at[0]) / scale(m);
  m.cam.y = wy - (size.h * at[1]) / scale(m);
  bound(m);
}

const paper = () => {
  const r = document.querySelector(".map")?.getBoundingClientRect();
  return { w: r?.width || 560, h: r?.height || 540, left: r?.left ?? 0, top: r?.top ?? 0 };
};
const scale = (m) => Math.max(paper().w / W, paper().h / H) * m.cam.k;

function bound(m) {
  const size = paper(), s = scale(m);
  m.cam.x = Math.min(W - size.w / s, Math.max(0, m.cam.x));
  m.cam.y = Math.min(H - size.h / s, Math.max(0, m.cam.y));
}

let held = null; // where a drag of the map is; gone when the pointer comes up

addEventListener("pointerdown", (e) => {
  if (e.target.closest?.(".map") && !e.target.closest("button")) held = { x: e.clientX, y: e.clientY };
});
addEventListener("pointermove", (e) => {
  if (!held) return;
  const m = Kit.model(), s = scale(m);
  m.cam.x -= (e.clientX - held.x) / s;
  m.cam.y -= (e.clientY - held.y) / s;
  held = { x: e.clientX, y: e.clientY };
  bound(m);
  Kit.draw();
});
addEventListener("pointerup", () => (held = null));

function wheel(m, e) {
  e.preventDefault();
  const size = paper();
  zoom(m, e.deltaY < 0 ? 1.25 : 0.8, [(e.clientX - size.left) / size.w, (e.clientY - size.top) / size.h]);
}

function drawing(m) {
  const s = scale(m), px = ({ x, y }) => [(x - m.cam.x) * s, (y - m.cam.y) * s];
  const shown = (town) => !town.small || m.cam.k >= 2;
  const road = (r) => {
    const [a, b] = r.ends.map((id) => px(m.towns[id]));
    return h("line", { x1: a[0], y1: a[1], x2: b[0], y2: b[1], class: r.path ? "path" : "road" });
  };
  const town = (one) => {
    const [x, y] = px(one), chosen = m.chosen === one.id, stop = Object.values(m.route).includes(one.id);
    const choose = () => (m.chosen = one.id);
    return h("g.town", { role: "button", tabindex: 0, "aria-label": one.name, class: `${chosen ? "chosen" : ""} ${stop ? "stop" : ""}`, on: { click: choose, keydown: (e) => e.key === "Enter" && choose() } },
      h("circle", { at: `town-${one.id}`, cx: x, cy: y, r: one.small ? 6 : 9 }), h("text", { x, y: y - 12, "text-anchor": "middle" }, one.name));
  };
  const lake = m.lakes.map((l) => h("ellipse", { cx: px(l)[0], cy: px(l)[1], rx: l.r * s, ry: l.r * s * 0.6, class: "lake" }));
  return h("div.map", { at: "map", on: { wheel: (e) => wheel(m, e) } }, h("svg", { "aria-label": t("title") }, lake, m.roads.map(road), m.towns.filter(shown).map(town)),
    h("div.zoom", {}, h("button", { at: "closer", "aria-label": t("closer"), on: { click: () => zoom(m, 2) } }, "+"), h("button", { at: "further", "aria-label": t("further"), on: { click: () => zoom(m, 0.5) } }, "−")));
}

function panel(m) {
  const one = m.towns[m.chosen], { route } = m, name = (id) => (id === null ? "—" : m.towns[id].name), km = length(m);
  const set = (role) => h("button", { at: `as-${role}`, on: { click: () => ((route[role] = one.id), (m.said = "")) } }, t(role));
  const start = () => (km === null ? (m.said = t("noRoute")) : (m.started.push({ ...route, km }), (m.said = t("started"))));
  return h("aside.panel", {},
    one ? h("section.card", {}, h("h2", {}, one.name), h("div.row.tight", {}, set("from"), set("via"), set("to")),
      h("p", {}, h("button", { at: "favourite", "aria-pressed": String(m.favourites.includes(one.id)), on: { click: () => (m.favourites = m.favourites.includes(one.id) ? m.favourites.filter((id) => id !== one.id) : [...m.favourites, one.id]) } }, `★ ${t("favourite")}`))) : note(t("hint")),
    h("section.card", {}, h("h2", {}, t("route")), ["from", "via", "to"].map((role) => h("p.spread.stop", {}, h("span.soft", {}, t(role)), name(route[role]))),
      h("div.row.tight", {}, MODES.map((mode) => h("button", { at: `mode-${mode}`, "aria-pressed": String(route.mode === mode), on: { click: () => (route.mode = mode) } }, t(mode)))),
      h("p.km", {}, km === null ? "" : t("km", km)), note(m.said), h("div.row.tight", {}, h("button.primary", { at: "start", on: { click: start } }, t("start")), h("button.bare", { at: "clear", on: { click: () => (Object.assign(route, { from: null, via: null, to: null }), (m.said = "")) } }, t("clear")))));
}

function make(rng, task) {
  const names = People.cities(), cells = rng.shuffle(Array.from({ length: 20 }, (_, i) => i)).slice(0, names.length);
  const smalls = new Set(rng.shuffle(names.map((_, i) => i)).slice(0, 5));
  if (task.level === 1) smalls.add(task.picks.stops[0]);
  const towns = names.map((name, id) => ({ id, name, x: 90 + (cells[id] % 5) * 205 + rng.int(-45, 45), y: 100 + Math.floor(cells[id] / 5) * 185 + rng.int(-40, 40), small: smalls.has(id) }));
  const km = (a, b) => Math.round(Math.hypot(towns[a].x - towns[b].x, towns[a].y - towns[b].y) / 10) + rng.int(1, 9);
  const roads = [], joined = new Set([0]);
  while (joined.size < towns.length) { // a tree of roads that all cars can take
    let best = null;
    for (const a of joined) for (const b of towns.map((one) => one.id)) {
      const d = Math.hypot(towns[a].x - towns[b].x, towns[a].y - towns[b].y);
      if (!joined.has(b) && (!best || d < best.d)) best = { a, b, d };
    }
    joined.add(best.b);
    roads.push({ ends: [best.a, best.b], km: km(best.a, best.b), path: false });
  }
  for (let i = 0; i < 5; i++) { // and some paths across
    const [a, b] = rng.shuffle(towns.map((one) => one.id));
    roads.push({ ends: [a, b], km: km(a, b), path: true });
  }
  const lakes = Array.from({ length: 3 }, () => ({ x: rng.int(100, 900), y: rng.int(100, 660), r: rng.int(40, 90) }));
  return { towns, roads, lakes, cam: { x: rng.int(0, 200), y: rng.int(0, 150), k: 1 }, chosen: null, favourites: [], route: { from: null, via: null, to: null, mode: "car" }, started: [], said: "" };
}

Kit.open({
  name: "map",
  words: {
    en: { title: "Lowland Map", hint: "Click a town. Drag to move, turn the wheel to zoom; small places show when you are close.", favourite: "Favourite", from: "From", via: "Over", to: "To", route: "Route", foot: "On foot", bicycle: "By bicycle", car: "By car", km: "{0} km", start: "Start", clear: "Clear", started: "The route has begun.", noRoute: "A route needs a beginning and an end.", closer: "Closer", further: "Further" },
    zh: { title: "低地地图", hint: "点击城镇；拖动可移动，滚轮可缩放，放大后显示小地方。", favourite: "收藏", from: "出发", via: "经过", to: "到达", route: "路线", foot: "步行", bicycle: "骑车", car: "驾车", km: "{0} 公里", start: "开始", clear: "清除", started: "路线已开始。", noRoute: "路线需要起点和终点。", closer: "放大", further: "缩小" },
  },
  make,
  begun: (m) => requestAnimationFrame(() => (bound(m), Kit.draw())),
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("title"))), h("div.stage", {}, drawing(m), panel(m))),
});
