// Selects a word by dragging over it, writes over it, marks it, and shapes the line.
function advise(state, task) {
  const hands = handsOf(state), [first, second] = task.slots.words, { level, slots } = task, mark = ["b", "i", "u"][task.picks.style];
  const lineOf = (word) => state.blocks.findIndex((block) => block.text.includes(word));
  const { sel } = state;
  function selected(word) {
    const block = lineOf(word), at = state.blocks[block].text.indexOf(word);
    return sel !== null && sel.a.block === block && sel.b.block === block && sel.a.at === at && sel.b.at === at + word.length;
  }
  const select = (word) => hands.reach(`word-${lineOf(word)}-${word}`, ({ x, y, w }) => {
    const half = Math.floor(w / 2);
    return hands.drag({ x: x - half + 1, y }, { x: x + half - 1, y }, `I drag over “${word}” to select it.`, `拖动选中“${word}”。`);
  });
  const word = level === 3 ? slots.fresh : first;
  if (level === 3 && lineOf(slots.fresh) < 0) {
    if (!selected(first)) return select(first);
    return hands.type(slots.fresh, `I write “${slots.fresh}” in its place.`, `改写成“${slots.fresh}”。`);
  }
  const block = state.blocks[lineOf(word)], at = block.text.indexOf(word);
  if (block.marks[mark].slice(at, at + word.length).includes("0")) {
    if (!selected(word)) return select(word);
    return hands.click(mark, `The word is selected; I make it ${slots.style}.`, `词已选中，设为${slots.style}。`);
  }
  const kind = level === 2 ? "h" : "li", line = level > 1 ? lineOf(second) : -1;
  if (line >= 0 && state.blocks[line].kind !== kind) {
    if (sel === null || sel.a.block !== line || sel.b.block !== line) return hands.click(`word-${line}-${second}`, `I put the caret into the line about the ${second}.`, `把光标放到提到${second}的那一行。`);
    return hands.click(kind, kind === "h" ? "This line becomes a heading." : "This line becomes a list item.", kind === "h" ? "把这一行设为标题。" : "把这一行设为列表项。");
  }
  return done(hands);
}
