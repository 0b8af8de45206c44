"use strict";

function choose(state) {
  const way = wayToNearest(state.size, state.at, state.pawns), [next] = way, { size } = state;
  const column = (next % size) + 1, row = Math.floor(next / size) + 1;
  return {
    action: `square ${next}`,
    thought: {
      en: `The nearest pawn is ${way.length} jumps away; first to column ${column}, row ${row}.`,
      zh: `最近的兵要跳 ${way.length} 步，先到第 ${column} 列第 ${row} 行。`,
    },
  };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}
