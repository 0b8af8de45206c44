// A table of orders that can be searched, sorted by any column, and changed in its cells.
"use strict";

const { h, t, input, choose } = Kit;

const STATUS = ["open", "paid", "shipped", "cancelled"];
const COLUMNS = ["number", "customer", "city", "amount", "status"];

function shown(m) {
  const words = m.search.trim().toLowerCase();
  const holds = (row) => [row.number, row.customer, row.city, t(row.status)].some((v) => String(v).toLowerCase().includes(words));
  const rows = m.rows.filter((row) => words === "" || holds(row));
  const { by, down } = m.sort;
  const order = (a, b) => (typeof a[by] === "number" ? a[by] - b[by] : String(a[by]).localeCompare(String(b[by])));
  return rows.sort((a, b) => (down ? order(b, a) : order(a, b)));
}

function sortBy(m, by) {
  m.sort = { by, down: m.sort.by === by ? !m.sort.down : false };
}

function keep(m, row) {
  const value = Number(m.edit.text);
  if (m.edit.text.trim() !== "" && Number.isFinite(value) && value >= 0) row.amount = value;
  m.edit = null;
}

function amount(m, row) {
  if (m.edit?.number !== row.number) {
    const begin = () => (m.edit = { number: row.number, text: String(row.amount) });
    return h("td.amount", { at: `amount-${row.number}`, title: t("double"), on: { dblclick: begin } }, row.amount.toFixed(2));
  }
  const keydown = (e) => (e.key === "Enter" ? keep(m, row) : e.key === "Escape" ? (m.edit = null) : null);
  return h("td.amount", {}, input(`edit-${row.number}`, m.edit.text, (v) => m.edit && (m.edit.text = v), { inputmode: "decimal", on: { keydown } }));
}

function line(m, row) {
  const options = STATUS.map((s) => [s, t(s)]);
  return h("tr", { "data-key": row.number }, h("td.soft", {}, row.number), h("td", {}, row.customer), h("td", {}, row.city), amount(m, row),
    h("td.status", {}, choose(`status-${row.number}`, m.ui, options, row.status, (v) => (row.status = v))));
}

const head = (m, by) =>
  h("th", { "aria-sort": m.sort.by === by ? (m.sort.down ? "descending" : "ascending") : "none" },
    h("button.bare", { at: `sort-${by}`, on: { click: () => sortBy(m, by) } }, t(by), m.sort.by === by ? (m.sort.down ? " ▾" : " ▴") : ""));

function make(rng, task) {
  const { who, city, limit } = task.slots, names = People.names(), cities = People.cities().slice(0, 5);
  const count = [0, 10, 22, 28][task.level];
  const customers = task.level === 1 ? [who, ...rng.shuffle(names.filter((n) => n !== who)).slice(0, count - 1)] : Array.from({ length: count }, () => rng.pick(names));
  const amounts = rng.shuffle(Array.from({ length: count }, (_, i) => 120 + i * 27 + rng.int(0, 20)));
  let rows = customers.map((customer, i) => ({ customer, city: i < 5 ? city : rng.pick(cities), amount: amounts[i], status: rng.pick(STATUS) }));
  if (task.level === 1) rows[0].status = "open";
  if (task.level === 3) {
    for (const i of [0, 1]) Object.assign(rows[i], { status: "open", amount: limit + rng.int(5, 180) });
    Object.assign(rows[2], { status: "open", amount: limit - rng.int(5, 90) });
  }
  rows = rng.shuffle(rows).map((row, i) => ({ number: 1040 + i * 3, ...row }));
  return { rows, before: JSON.parse(JSON.stringify(rows)), sort: { by: "number", down: false }, search: "", edit: null, ui: { open: null } };
}

Kit.open({
  name: "ledger",
  words: {
    en: { title: "Orders", number: "No.", customer: "Customer", city: "City", amount: "Amount", status: "Status", open: "open", paid: "paid", shipped: "shipped", cancelled: "cancelled", search: "Search orders", double: "Double-click to change; Enter keeps it", hint: "Double-click an amount to change it; Enter keeps it.", firm: "Mill & Sons" },
    zh: { title: "订单", number: "编号", customer: "客户", city: "城市", amount: "金额", status: "状态", open: "未处理", paid: "已付款", shipped: "已发货", cancelled: "已取消", search: "搜索订单", double: "双击修改，回车保存", hint: "双击金额可修改，按回车保存。", firm: "磨坊商行" },
  },
  make,
  view: (m) => h("div", {}, h("header.bar", {}, h("span.brand", {}, t("firm")), h("span.room"), h("div.search", {}, input("search", m.search, (v) => (m.search = v), { placeholder: t("search"), "aria-label": t("search") }))),
    h("main", {}, h("div.spread", {}, h("h1", {}, t("title")), h("span.soft.small", {}, t("hint"))),
      h("table", {}, h("thead", {}, h("tr", {}, COLUMNS.map((by) => head(m, by)))), h("tbody", {}, shown(m).map((row) => line(m, row)))))),
  drawn: (m) => m.edit && document.querySelector(`[data-at="edit-${m.edit.number}"]`)?.focus(),
});
