"use strict";

function advise(state) {
  const { cards, columns, found, turned, view } = state;
  const shut = [...cards.keys()].filter((place) => !found.includes(place));
  const first = turned.length === 1 ? turned[0] : null;
  const place = first === null ? shut[0] : shut.find((other) => other !== first && cards[other] === cards[first]);
  const column = place % columns, row = Math.floor(place / columns);
  return {
    thought: first === null
      ? { en: `I turn over the card in row ${row + 1}, column ${column + 1}.`, zh: `翻开第 ${row + 1} 行第 ${column + 1} 列的牌。` }
      : { en: `Its twin lies in row ${row + 1}, column ${column + 1}.`, zh: `相同的牌在第 ${row + 1} 行第 ${column + 1} 列。` },
    action: {
      kind: "click",
      x: Math.round(view.left + (column + 0.5) * view.cell),
      y: Math.round(view.top + (row + 0.5) * view.cell),
    },
  };
}
