// Drags the card; sorts a column by putting the right card into each place from the top.
function advise(state, task) {
  const hands = handsOf(state), { level, picks, slots } = task, column = state.columns[picks.to];
  const to = hands.parts[`column-${picks.to}`];
  const bring = (one, end, en, zh) => hands.reach(`card-${one.id}`, ({ x, y }) => hands.drag({ x, y }, end, en, zh));
  const above = (one) => hands.parts[`card-${one.id}`].y - Math.floor(hands.parts[`card-${one.id}`].h / 2) + 2;
  if (level === 3) {
    const place = column.findIndex((one, i) => one.rank !== i + 1);
    if (place < 0) return done(hands);
    const one = column.find((c) => c.rank === place + 1);
    return bring(one, { x: to.x, y: above(column[place]) }, `Number ${one.rank} belongs into place ${place + 1}.`, `编号 ${one.rank} 应排在第 ${place + 1} 位。`);
  }
  const card = state.columns.flat().find((one) => one.id === picks.cards[0]);
  if (column.includes(card) && (level === 1 || column[0] === card)) return done(hands);
  const first = column.find((one) => one !== card);
  const y = first ? above(first) : to.y;
  return bring(card, { x: to.x, y }, `I drag “${card.title}” to the top of “${slots.to}”.`, `把“${card.title}”拖到“${slots.to}”列的顶部。`);
}
