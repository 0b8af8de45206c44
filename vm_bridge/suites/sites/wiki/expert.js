// Follows the chain from one article to the next, and answers at its end.
function advise(state, task) {
  const hands = handsOf(state), of = (id) => state.facts[id.split("-")[0]][Number(id.split("-")[1])];
  const begin = task.level === 1 ? `person-${task.picks.who}` : `work-${task.picks.work}`;
  const way = [begin];
  if (task.level > 1) way.push(of(begin).author);
  if (task.level > 2) way.push(of(way.at(-1)).teacher);
  way.push(of(way.at(-1)).town);
  if (task.level > 1) way.push(of(way.at(-1)).river);
  if (task.level > 2) way.push(of(way.at(-1)).bridge);
  const [room, what] = state.path, last = way.at(-1), kind = begin.split("-")[0];
  if (room === "wiki" && what === last) {
    const answer = task.level === 1 ? String(of(last).year) : task.level === 2 ? String(of(last).length) : state.titles[of(last).builder];
    return hands.finish(answer, `The chain ends here: ${answer}.`, `线索到此为止：${answer}。`);
  }
  const at = room === "wiki" ? way.lastIndexOf(what) : -1;
  if (at >= 0) return hands.click(`to-${way[at + 1]}`, `The next link is ${state.titles[way[at + 1]]}.`, `下一环是${state.titles[way[at + 1]]}。`);
  if (room === "list" && what === kind) return hands.click(`to-${begin}`, `“${state.titles[begin]}” is where the chain begins.`, `线索从“${state.titles[begin]}”开始。`);
  if (!room) return hands.click(`list-${kind}`, "The list of this kind is the place to begin.", "先看这一类的列表。");
  return hands.click("home", "This leads nowhere; back to the front page.", "这里没有线索，回首页。");
}
