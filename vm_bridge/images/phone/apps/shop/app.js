/** Shop: goods by category, a page for each, wishes, a cart, the checkout, past orders. */
import { h, icon } from "../shared/element.js";
import { back, change, go, mine, now, replace, run, say, t } from "../shared/phone.js";
import { bar, body, button, empty, field, iconButton, row, searchable } from "../shared/ui.js";

const CATEGORIES = [
  ["", "All", "全部"],
  ["home", "Home", "家居"],
  ["office", "Office", "办公"],
  ["travel", "Travel", "旅行"],
  ["food", "Food", "食品"],
];
const MOST = 99;

const nameOf = (product) => t(product.name, product.name_zh);
const productOf = (id) => mine().products.find((product) => product.id === id);
const money = (cents) => `€${(cents / 100).toFixed(2)}`;
const items = () => Object.entries(mine().cart).map(([id, count]) => [productOf(id), count]);
const goods = () => items().reduce((sum, [product, count]) => sum + product.price * count, 0);
const counted = () => Object.values(mine().cart).reduce((sum, count) => sum + count, 0);

const hueOf = (id) => `--hue: ${(Number(id.slice(1)) * 67) % 360}`;
const picture = (product, size = "medium") => h(`span.picture.${size}`, { style: hueOf(product.id), "aria-hidden": "true" }, [...nameOf(product)][0]);

const cartButton = () =>
  h("button.sign", { "aria-label": t("Cart", "购物车"), onclick: () => go("cart") }, counted() > 0 ? h("span.badge", {}, String(counted())) : icon("cart"));

const tile = (product) =>
  h("button.product", { onclick: () => go("product", product.id) }, picture(product), h("b", {}, nameOf(product)), h("span.price", {}, money(product.price)));

function home(category = "") {
  const list = (words) => {
    const shown = mine().products.filter((product) => (!category || product.category === category) && `${product.name} ${product.name_zh}`.toLowerCase().includes(words));
    return shown.length ? shown.map(tile) : empty(t("Nothing found", "没有找到商品"));
  };
  const [search, rows] = searchable(t("Search goods", "搜索商品"), list);
  rows.className = "shelf";
  const chips = CATEGORIES.map(([key, en, zh]) => h("button.chip", { "aria-pressed": String(key === category), onclick: () => replace("home", key) }, t(en, zh)));
  return [
    bar(t("Shop", "商店"), { actions: [iconButton("heart", t("Wishes", "心愿单"), () => go("wishes")), iconButton("box", t("Orders", "订单"), () => go("orders")), cartButton()] }),
    body(search, h("div.chips", {}, chips), rows),
  ];
}

function product(id) {
  const shown = productOf(id);
  const wished = mine().wishes.includes(id);
  const wish = () => change((shop) => (shop.wishes = wished ? shop.wishes.filter((one) => one !== id) : [...shop.wishes, id]));
  const add = () => {
    change((shop) => (shop.cart[id] = Math.min((shop.cart[id] ?? 0) + 1, MOST)));
    say(t("Added to cart", "已加入购物车"));
  };
  return [
    bar("", { onback: back, actions: [iconButton("heart", t("Wish for it", "加入心愿单"), wish, wished), cartButton()] }),
    body(
      picture(shown, "large"),
      h("h1", { style: "padding: 12px 8px 2px" }, nameOf(shown)),
      h("p.price", { style: "padding: 0 8px; font-size: 1.3rem" }, money(shown.price)),
      h("p", { style: "padding: 10px 8px; color: var(--soft)" }, t("In stock. Sent within two working days.", "有货，两个工作日内发货。")),
      button(t("Add to cart", "加入购物车"), add, "wide"),
    ),
  ];
}

function counter(product, count) {
  const set = (value) =>
    change((shop) => {
      if (value > 0) shop.cart[product.id] = Math.min(value, MOST);
      else delete shop.cart[product.id];
    });
  return h(
    "span.count",
    {},
    iconButton("minus", t(`Fewer: ${product.name}`, `减少：${product.name_zh}`), () => set(count - 1)),
    h("output", {}, String(count)),
    iconButton("add", t(`More: ${product.name}`, `增加：${product.name_zh}`), () => set(count + 1)),
  );
}

const sums = () => [
  h("p.sum", {}, h("span", {}, t("Goods", "商品")), h("span", {}, money(goods()))),
  h("p.sum", {}, h("span", {}, t("Shipping", "运费")), h("span", {}, money(mine().shipping))),
  h("p.sum.total", {}, h("span", {}, t("Total", "合计")), h("span", {}, money(goods() + mine().shipping))),
];

function cart() {
  if (!counted()) return [bar(t("Cart", "购物车"), { onback: back }), body(empty(t("Your cart is empty", "购物车是空的")))];
  const rows = items().map(([product, count]) => row({ lead: picture(product, "small"), title: nameOf(product), subtitle: money(product.price), trail: counter(product, count) }));
  return [
    bar(t("Cart", "购物车"), { onback: back }),
    body(h("div.rows", {}, rows), h("div.card", { style: "margin-top: 12px; padding-top: 10px" }, sums()), button(t("Check out", "去结算"), () => go("checkout"), "wide")),
  ];
}

const draft = {};

function checkout() {
  draft.address ??= mine().address;
  const order = () => {
    const address = draft.address.trim();
    if (!address) return say(t("An address is needed", "请填写地址"));
    draft.address = undefined;
    change((shop) => {
      shop.orders.unshift({ id: `o${shop.orders.length + 1}`, items: shop.cart, total: goods() + shop.shipping, address, at: now() });
      shop.cart = {};
    });
    return replace("thanks");
  };
  return [
    bar(t("Check out", "结算"), { onback: back }),
    body(field(t("Address", "收货地址"), draft, "address"), h("div.card", { style: "padding-top: 10px" }, sums()), button(t("Place order", "提交订单"), order, "wide")),
  ];
}

const thanks = () => [
  bar(t("Thank you", "谢谢"), { onback: back }),
  body(empty(t("Your order was placed.", "订单已提交。")), button(t("See orders", "查看订单"), () => replace("orders"), "wide")),
];

function orders() {
  const lines = mine().orders.map((order) =>
    h(
      "div.card",
      { style: "padding: 10px 0" },
      row({ title: t(`Order ${order.id}`, `订单 ${order.id}`), subtitle: order.address, trail: money(order.total) }),
      Object.entries(order.items).map(([id, count]) => h("p.sum", {}, h("span", {}, nameOf(productOf(id))), h("span", {}, `× ${count}`))),
    ),
  );
  return [bar(t("Orders", "订单"), { onback: back }), body(lines.length ? lines : empty(t("No orders yet", "还没有订单")))];
}

function wishes() {
  const shown = mine().wishes.map(productOf);
  return [bar(t("Wishes", "心愿单"), { onback: back }), body(shown.length ? h("div.shelf", {}, shown.map(tile)) : empty(t("No wishes yet", "心愿单是空的")))];
}

run({ home, product, cart, checkout, thanks, orders, wishes });
