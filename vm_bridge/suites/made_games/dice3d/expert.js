"use strict";

function choose(state) {
  const found = [...explore(state.size, state.gaps, state).values()];
  let end = found.find((one) => one.at === state.goal && one.sides[0] === state.colour && one.far > 0);
  const far = end ? end.far : 0;
  while (end && end.before.before) end = end.before;
  const way = end ? end.way : rules.actions(state)[0];
  const zh = { up: "上", down: "下", left: "左", right: "右" };
  return {
    action: way,
    thought: {
      en: `The goal is ${far} rolls away with its colour on top; I roll ${way}.`,
      zh: `再滚 ${far} 次就能以正确的颜色到达目标，先向${zh[way]}滚。`,
    },
  };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}
