"use strict";

function choose(state) {
  const colour = widest(state.cells, state.size, state.colours);
  const gain = areaOf(recoloured(state.cells, state.size, colour), state.size).size;
  return {
    action: `colour ${colour}`,
    thought: {
      en: `Colour ${colour + 1} of the row makes the area largest: ${gain} cells.`,
      zh: `选第 ${colour + 1} 种颜色，区域最大：${gain} 个格子。`,
    },
  };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}
