"use strict";

function advise(state) {
  const { size, due, view } = state;
  if (!due.length) return null;
  const place = Math.min(...due), column = place % size, row = Math.floor(place / size);
  return {
    thought: {
      en: `${due.length} press${due.length > 1 ? "es" : ""} are left; row ${row + 1}, column ${column + 1} is one of them.`,
      zh: `还需按 ${due.length} 次，其中一次在第 ${row + 1} 行第 ${column + 1} 列。`,
    },
    action: {
      kind: "click",
      x: Math.round(view.left + (column + 0.5) * view.cell),
      y: Math.round(view.top + (row + 0.5) * view.cell),
    },
  };
}
