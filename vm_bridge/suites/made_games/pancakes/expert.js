"use strict";

function choose(state) {
  const count = nextFlip(state.stack), size = state.stack.length - settled(state.stack), top = state.stack[0] === size;
  return {
    action: `flip ${count}`,
    thought: {
      en: top ? `Pancake ${size} is on top; flipping ${count} brings it down to its place.` : `Pancake ${size} comes next; flipping ${count} brings it to the top.`,
      zh: top ? `第 ${size} 号煎饼在最上面，翻转 ${count} 张让它就位。` : `接下来处理第 ${size} 号煎饼，翻转 ${count} 张把它翻到最上面。`,
    },
  };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}
