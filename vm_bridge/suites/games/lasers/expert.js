"use strict";

function advise(state) {
  const { columns, mirrors, solved, view } = state;
  const wrong = Object.keys(solved).filter((place) => mirrors[place] !== solved[place]).map(Number);
  if (!wrong.length) return null;
  const column = wrong[0] % columns, row = Math.floor(wrong[0] / columns);
  return {
    thought: {
      en: `The mirror in row ${row + 1}, column ${column + 1} sends the beam the wrong way.`,
      zh: `第 ${row + 1} 行第 ${column + 1} 列的镜子把光反射到了错误的方向。`,
    },
    action: {
      kind: "click",
      x: Math.round(view.left + (column + 1.5) * view.cell),
      y: Math.round(view.top + (row + 0.5) * view.cell),
    },
  };
}
