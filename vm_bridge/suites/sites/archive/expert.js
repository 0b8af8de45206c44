// Searches for kind and place, reads what has to be read, answers.
function advise(state, task) {
  const hands = handsOf(state), { kind, city } = task.slots, level = task.level, words = `${kind} ${city}`;
  const held = state.entries.filter((one) => one.kind === kind && one.city === city), [room, what] = state.path;
  const unread = held.find((one) => !state.read.includes(one.id));
  if (level !== 2 && !unread) {
    const best = held.reduce((a, b) => (b.weight > a.weight ? b : a));
    const answer = level === 1 ? String(held[0][["year", "weight", "shelf"][task.picks.field]]) : best.giver;
    return hands.finish(answer, level === 1 ? `The page says ${answer}.` : `The heaviest has ${best.weight} g and was given by ${answer}.`, level === 1 ? `页面上写着 ${answer}。` : `最重的一件是 ${best.weight} 克，由${answer}捐赠。`);
  }
  if (room === "search" && what === words) {
    if (level === 2) return hands.finish(String(held.length), `The search counts ${held.length} entries.`, `搜索结果共 ${held.length} 条。`);
    if (hands.there(`entry-${unread.id}`)) return hands.click(`entry-${unread.id}`, "This entry I have not read yet.", "这一条还没看过。");
    return hands.click(hands.there("later") ? "later" : "earlier", "The rest is on another page.", "其余的在另一页。");
  }
  if (room === "entry" && state.words === words) return hands.back("I go back to what the search found.", "返回搜索结果。");
  if (state.words !== words) return hands.fill("search", state.words, words, { en: "the search field", zh: "搜索框" });
  return hands.click("find", "I search for kind and place together.", "按种类和地点一起搜索。");
}
