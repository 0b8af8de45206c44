// Chooses on each page, and goes on.
function advise(state, task) {
  const hands = handsOf(state), asked = task.slots.names.slice(0, 2), { page, chosen } = state;
  if (state.finished !== null) return done(hands);
  if (page === 1 && chosen[0] !== asked[0]) return hands.click("back", "The first choice is wrong; I go back.", "第一页选错了，返回。");
  if (chosen[page] !== asked[page]) return hands.click(asked[page], `On this page I choose “${asked[page]}”.`, `这一页选“${asked[page]}”。`);
  return hands.click("next", page === 0 ? "It is chosen; I go on." : "Both are chosen; I finish.", page === 0 ? "已选好，继续。" : "两页都选好了，完成。");
}
