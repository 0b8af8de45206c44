// Finds each thing, chooses its kind, puts it into the cart, and orders where that is asked.
function advise(state, task) {
  const hands = handsOf(state), { things, size_, count, who, city } = task.slots, level = task.level, colour = ["red", "blue", "green"][task.picks.colour];
  const named = (name) => state.things.find((one) => one.name === name);
  const best = level === 3 ? state.things.filter((one) => one.stars >= 4).sort((a, b) => a.price - b.price)[0] : named(things[0]);
  const wanted = [{ one: best, colour, size: size_, count: level === 1 ? 1 : count }];
  if (level === 2) wanted.push({ one: named(things[1]), colour: "blue", size: "M", count: 1 });
  const next = wanted.find((wish) => !state.cart.some((line) => line.id === wish.one.id));
  const [room, id] = state.path;
  if (state.orders.length) return done(hands);
  if (next) {
    if (room === "thing" && Number(id) === next.one.id) {
      const { pick } = state;
      if (pick.colour !== next.colour) return hands.click(`colour-${next.colour}`, "I choose the colour.", "选择颜色。");
      if (pick.size !== next.size) return hands.click(`size-${next.size}`, `Size ${next.size}.`, `选 ${next.size} 码。`);
      if (pick.count !== next.count) return hands.click(pick.count < next.count ? "count-more" : "count-less", `I want ${next.count} of it.`, `要 ${next.count} 件。`);
      return hands.click("add", "Colour, size and number are right; into the cart.", "颜色、尺码、数量都对，加入购物车。");
    }
    if (room) return hands.click("all", "Back to the list of all things.", "回到商品列表。");
    if (level === 3 && state.order !== "cheap") return hands.choose("order", "cheap", level === 3 ? "↑" : "");
    if (level < 3 && state.search !== next.one.name) return hands.fill("search", state.search, next.one.name, { en: "the search field", zh: "搜索框" });
    return hands.click(`thing-${next.one.id}`, `“${next.one.name}” has ${next.one.stars} stars and costs ${next.one.price}; I open it.`, `“${next.one.name}”评分 ${next.one.stars}，价格 ${next.one.price}，打开看看。`);
  }
  if (level < 3) return done(hands);
  if (room === "order") {
    if (state.form.who !== who) return hands.fill("who", state.form.who, who, { en: "the receiver", zh: "收件人" });
    if (state.form.city !== city) return hands.fill("city", state.form.city, city, { en: "the city", zh: "城市" });
    return hands.click("buy", "The order is right; I buy.", "订单无误，付款。");
  }
  if (room === "cart") return hands.click("checkout", "The cart is right; on to the order.", "购物车没问题，去下单。");
  return hands.click("cart", "I look into the cart.", "查看购物车。");
}
