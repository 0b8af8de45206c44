// The cart, or the order, holds what was asked for and nothing else.
function verify(state, task) {
  const { things, size_, count, who, city } = task.slots, level = task.level, colour = ["red", "blue", "green"][task.picks.colour];
  const named = (name) => state.things.find((one) => one.name === name).id;
  const cheapest = () => state.things.filter((one) => one.stars >= 4).sort((a, b) => a.price - b.price)[0].id;
  const wanted = [{ id: level === 3 ? cheapest() : named(things[0]), colour, size: size_, count: level === 1 ? 1 : count }];
  if (level === 2) wanted.push({ id: named(things[1]), count: 1 });
  const fits = (line, wish) => Object.keys(wish).every((key) => line[key] === wish[key]);
  const met = (lines) => wanted.filter((wish) => lines.some((line) => fits(line, wish))).length;
  const exact = (lines) => lines.length === wanted.length && met(lines) === wanted.length;
  const order = state.orders[0];
  const failure = state.orders.length > 0 && !(level === 3 && state.orders.length === 1 && exact(order.lines) && order.who === who && order.city === city);
  const success = !failure && (level === 3 ? order !== undefined : exact(state.cart));
  const strays = state.cart.filter((line) => !wanted.some((wish) => fits(line, wish))).length;
  const score = success ? 1 : failure ? 0 : Math.max(0, (met(state.cart) / wanted.length) * 0.6 - strays * 0.1);
  return { success, failure, score, level, done: success || failure, reason: state.orders.length ? `${state.orders.length} orders placed` : `${met(state.cart)} of ${wanted.length} lines in the cart, ${strays} others` };
}
