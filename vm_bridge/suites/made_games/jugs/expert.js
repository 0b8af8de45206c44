"use strict";

function choose(state) {
  const end = explore(state.sizes, state.held).find((one) => one.far > 0 && one.held.includes(state.goal));
  const action = end ? end.first : rules.actions(state)[0], [what, jug, other] = action.split(" ");
  const names = ["A", "B", "C"], from = names[jug], to = names[other];
  const en = { fill: `fill ${from}`, empty: `empty ${from}`, pour: `pour ${from} into ${to}` }[what];
  const zh = { fill: `把 ${from} 装满`, empty: `把 ${from} 倒空`, pour: `把 ${from} 倒入 ${to}` }[what];
  return {
    action,
    thought: {
      en: `${end ? end.far : 0} moves lead to ${state.goal} litres; now I ${en}.`,
      zh: `再走 ${end ? end.far : 0} 步就能量出 ${state.goal} 升；现在${zh}。`,
    },
  };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}
