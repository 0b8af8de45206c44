// Unticks what should not be, ticks what should, and confirms.
function advise(state, task) {
  const hands = handsOf(state), asked = task.slots.names.slice(0, 2), { ticked } = state;
  if (state.confirmed) return done(hands);
  const wrong = ticked.find((name) => !asked.includes(name)), left = asked.find((name) => !ticked.includes(name));
  if (wrong) return hands.click(wrong, `“${wrong}” is not asked for; I untick it.`, `没有要求“${wrong}”，取消勾选。`);
  if (left) return hands.click(left, `I tick “${left}”.`, `勾选“${left}”。`);
  return hands.click("ok", "Both are ticked; I press OK.", "两项都勾选了，按“好”。");
}
