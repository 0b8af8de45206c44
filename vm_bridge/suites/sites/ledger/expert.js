// Narrows the table by the search field, then changes what is to change.
function advise(state, task) {
  const hands = handsOf(state), { who, city, amount, limit } = task.slots;
  const status = ["paid", "shipped", "cancelled"][task.picks.status], words = task.level === 1 ? who : city;
  if (state.edit && state.edit.text === String(amount)) return hands.keys(["enter"], "The new amount stands there; Enter keeps it.", "新金额已填好，按回车保存。");
  if (state.edit) return hands.fill(`edit-${state.edit.number}`, state.edit.text, String(amount), { en: "the cell", zh: "单元格" });
  const due = task.level === 2
    ? state.before.filter((row) => row.city === city).sort((a, b) => b.amount - a.amount).slice(0, 1).filter((row) => state.rows.find((r) => r.number === row.number).amount !== amount)
    : state.rows.filter((row) => (task.level === 1 ? row.customer === who && row.status !== status : row.city === city && row.status === "open" && row.amount > limit));
  if (!due.length) return done(hands);
  if (state.search !== words) return hands.fill("search", state.search, words, { en: "the search field", zh: "搜索框" });
  const { number } = due[0];
  if (task.level === 2) return hands.click(`amount-${number}`, `Order ${number} is the largest from ${city}; a double click opens its amount.`, `${city}最大的订单是 ${number}，双击金额进行修改。`, "double_click");
  return hands.choose(`status-${number}`, status, task.slots.status);
}
