// A small shop: a list that is searched and sorted, things in colours and sizes, a cart, an order.
"use strict";

const { h, t, input, field, choose, note, go, path, href } = Kit;

const NAMES = { en: ["Linen scarf", "Canvas bag", "Wool hat", "Rain jacket", "Cotton shirt", "Felt slippers", "Leather belt", "Silk tie", "Warm socks", "Straw hat"], zh: ["亚麻围巾", "帆布包", "羊毛帽", "雨衣", "棉衬衫", "毡拖鞋", "皮带", "丝领带", "暖袜", "草帽"] };
const COLOURS = ["red", "blue", "green"], SIZES = ["S", "M", "L"];
const TINTS = { red: "#c8503f", blue: "#3f72b5", green: "#4d8a55" };

const stars = (n) => "★".repeat(Math.floor(n)) + (n % 1 ? "½" : "");
const price = (n) => `€ ${n.toFixed(2)}`;
const thing = (m, id) => m.things.find((one) => one.id === Number(id));

function shown(m) {
  const words = m.search.trim().toLowerCase(), list = m.things.filter((one) => one.name.toLowerCase().includes(words));
  const orders = { none: () => 0, cheap: (a, b) => a.price - b.price, dear: (a, b) => b.price - a.price, stars: (a, b) => b.stars - a.stars };
  return [...list].sort(orders[m.order]);
}

const picture = (one, colour, big) => h("svg", { viewBox: "0 0 100 70", class: big ? "big" : "pic", role: "img", "aria-label": one.name },
  h("rect", { width: 100, height: 70, fill: `color-mix(in srgb, ${TINTS[colour]} 22%, var(--raised))` }),
  h("path", { d: `M20 60 Q ${30 + one.id * 4} ${5 + one.id * 3}, 50 ${18 + one.id} T 80 60 Z`, fill: TINTS[colour] }), h("circle", { cx: 30 + one.id * 4, cy: 20, r: 4 + (one.id % 4), fill: "var(--paper)" }));

const tile = (one) => h("li.card.tile", { "data-key": one.id }, h("a", { at: `thing-${one.id}`, href: href("thing", one.id) }, picture(one, one.tint), h("strong", {}, one.name)),
  h("div.spread.small", {}, h("span", {}, price(one.price)), h("span.stars", { "aria-label": t("rated", one.stars) }, stars(one.stars), " ", one.stars)));

const list = (m) => h("div", {}, h("div.row", {}, h("div.grow", {}, input("search", m.search, (v) => (m.search = v), { placeholder: t("search"), "aria-label": t("search") })),
  h("div.order", {}, choose("order", m.ui, ["none", "cheap", "dear", "stars"].map((k) => [k, t(k)]), m.order, (v) => (m.order = v)))), h("ul.tiles", {}, shown(m).map(tile)));

function add(m, one) {
  const { colour, size } = m.pick;
  if (!colour || !size) return (m.said = t("choose"));
  const same = m.cart.find((line) => line.id === one.id && line.colour === colour && line.size === size);
  if (same) same.count = Math.min(9, same.count + m.pick.count);
  else m.cart.push({ id: one.id, colour, size, count: m.pick.count });
  m.said = t("added", one.name);
}

const stepper = (at, value, keep) => h("div.row.tight.stepper", {}, h("button", { at: `${at}-less`, "aria-label": t("less"), on: { click: () => keep(Math.max(1, value - 1)) } }, "−"), h("output", {}, value), h("button", { at: `${at}-more`, "aria-label": t("more"), on: { click: () => keep(Math.min(9, value + 1)) } }, "+"));

function detail(m, one) {
  const radio = (kind, v, label) => h("button", { at: `${kind}-${v}`, "aria-pressed": String(m.pick[kind] === v), on: { click: () => (m.pick[kind] = v) } }, label);
  return h("div.card.detail", {}, picture(one, m.pick.colour ?? one.tint, true), h("div.grow", {}, h("h1", {}, one.name), h("p", {}, price(one.price), " ", h("span.stars", {}, stars(one.stars), " ", one.stars)),
    h("div.field", {}, h("span.label", {}, t("colour")), h("div.row.tight", {}, m.colours.map((v) => radio("colour", v, t(v))))),
    h("div.field", {}, h("span.label", {}, t("size")), h("div.row.tight", {}, SIZES.map((v) => radio("size", v, v)))),
    h("div.field", {}, h("span.label", {}, t("count")), stepper("count", m.pick.count, (v) => (m.pick.count = v))),
    note(m.said), h("button.primary", { at: "add", on: { click: () => add(m, one) } }, t("add"))));
}

const sum = (m) => m.cart.reduce((all, line) => all + thing(m, line.id).price * line.count, 0);

function cart(m) {
  const line = (l, i) => h("li.spread.line", { "data-key": `${l.id}${l.colour}${l.size}` }, h("span.grow", {}, `${thing(m, l.id).name}, ${t(l.colour)}, ${l.size}`), stepper(`line-${i}`, l.count, (v) => (l.count = v)), h("span", {}, price(thing(m, l.id).price * l.count)), h("button.bare.danger", { at: `drop-${i}`, "aria-label": t("drop"), on: { click: () => m.cart.splice(i, 1) } }, "✕"));
  return h("div.card", {}, h("h1", {}, t("cart")), h("ul", {}, m.cart.map(line)), m.cart.length ? h("div.spread", {}, h("strong", {}, t("sum", price(sum(m)))), h("a", { at: "checkout", href: href("order") }, t("checkout"))) : note(t("empty")));
}

function order(m) {
  const text = (name) => field(t(name), input(name, m.form[name], (v) => (m.form[name] = v)));
  const buy = () => {
    if (!m.cart.length || m.form.who.trim() === "" || m.form.city.trim() === "") return (m.said = t("incomplete"));
    m.orders.push({ lines: m.cart, who: m.form.who.trim(), city: m.form.city.trim() });
    m.cart = [];
    go("thanks");
  };
  return h("form.card", { on: { submit: (e) => (e.preventDefault(), buy()) } }, h("h1", {}, t("checkout")), h("p", {}, t("sum", price(sum(m)))), text("who"), text("city"), note(m.said, "bad"), h("button.primary", { at: "buy", type: "submit" }, t("buy")));
}

function page(m) {
  const [room, id] = path();
  if (room === "thing" && thing(m, id)) return detail(m, thing(m, id));
  if (room === "cart") return cart(m);
  if (room === "order") return order(m);
  return room === "thanks" ? h("div.card", {}, h("h1", {}, t("thanks")), note(t("ordered", m.orders.length), "good")) : list(m);
}

function make(rng, task) {
  const { slots, picks, language, level } = task;
  const prices = rng.shuffle([14, 19, 23, 28, 34, 39, 45, 52, 60, 71]), rates = rng.shuffle([3, 3.5, 3.5, 4, 4.5, 5, 2.5, 4.5, 3, 5]);
  const things = rng.shuffle(NAMES[language].map((name, id) => ({ id, name, price: prices[id] + 0.9, stars: rates[id], tint: rng.pick(COLOURS) })));
  if (level === 3) { // what costs least has too few stars
    const [least, next] = [...things].sort((a, b) => a.price - b.price);
    least.stars = 3.5;
    if (next.stars < 4) next.stars = rng.pick([3, 4]);
  }
  return { things, colours: rng.shuffle(COLOURS), order: "none", search: "", pick: { colour: null, size: null, count: 1 }, cart: [], form: { who: "", city: "" }, orders: [], said: "", ui: { open: null } };
}

Kit.open({
  name: "shop",
  words: {
    en: { title: "Weaver's Yard", search: "Search", none: "As they come", cheap: "Cheapest first", dear: "Dearest first", stars: "Best rated first", rated: "{0} of 5 stars", colour: "Colour", size: "Size", count: "How many", add: "Add to cart", added: "{0} is in the cart.", choose: "Choose a colour and a size.", cart: "Cart", empty: "The cart is empty.", sum: "Total {0}", checkout: "To the order", who: "Receiver", city: "City", buy: "Order and pay", incomplete: "Receiver and city are needed.", thanks: "Thank you", ordered: "Orders placed: {0}.", drop: "Remove", less: "Less", more: "More", red: "red", blue: "blue", green: "green", all: "All things" },
    zh: { title: "织坊", search: "搜索", none: "默认排序", cheap: "价格从低到高", dear: "价格从高到低", stars: "评分从高到低", rated: "{0} 星（满分 5 星）", colour: "颜色", size: "尺码", count: "数量", add: "加入购物车", added: "{0}已加入购物车。", choose: "请选择颜色和尺码。", cart: "购物车", empty: "购物车是空的。", sum: "合计 {0}", checkout: "去下单", who: "收件人", city: "城市", buy: "下单付款", incomplete: "请填写收件人和城市。", thanks: "谢谢", ordered: "已下订单 {0} 个。", drop: "移除", less: "减少", more: "增加", red: "红色", blue: "蓝色", green: "绿色", all: "全部商品" },
  },
  make,
  arrived: (m) => ((m.said = ""), (m.pick = { colour: null, size: null, count: 1 })),
  view: (m) => h("div", {}, h("header.bar", {}, h("a.brand", { at: "home", href: href() }, t("title")), h("span.room"), h("nav", {}, h("a", { at: "all", href: href() }, t("all")), h("a", { at: "cart", href: href("cart") }, `${t("cart")} (${m.cart.reduce((n, l) => n + l.count, 0)})`))), h("main", {}, page(m))),
});
