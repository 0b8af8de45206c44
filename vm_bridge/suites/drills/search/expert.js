// Writes what is searched for, searches, and opens the result.
function advise(state, task) {
  const hands = handsOf(state), [query, result] = task.slots.names;
  if (state.opened !== null || (state.found !== null && state.found !== query)) return done(hands);
  if (state.found !== null) return hands.click(result, `“${result}” was found; I open it.`, `找到了“${result}”，打开它。`);
  if (state.query !== query) return hands.fill("query", state.query, query, { en: "the search", zh: "搜索框" });
  return hands.click("go", "The words are there; I search.", "已输入，开始搜索。");
}
