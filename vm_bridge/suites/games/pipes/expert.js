"use strict";

function advise(state) {
  const { columns, pieces, solved, view } = state;
  const place = pieces.findIndex((piece, i) => piece !== solved[i]);
  if (place < 0) return null;
  const column = place % columns, row = Math.floor(place / columns);
  return {
    thought: {
      en: `The piece in row ${row + 1}, column ${column + 1} does not yet point to its neighbours; I turn it.`,
      zh: `第 ${row + 1} 行第 ${column + 1} 列的水管还没有对准相邻的管子，转一下。`,
    },
    action: {
      kind: "click",
      x: Math.round(view.left + (column + 0.5) * view.cell),
      y: Math.round(view.top + (row + 0.5) * view.cell),
    },
  };
}
