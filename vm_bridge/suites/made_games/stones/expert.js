"use strict";

function choose(state) {
  const best = perfect(state.heaps), heap = best ? best.heap : state.heaps.findIndex((one) => one > 0);
  const count = best ? best.count : 1;
  return {
    action: `heap ${heap} take ${count}`,
    thought: {
      en: best ? `With ${count} less in heap ${heap + 1} the heaps balance.` : `The heaps balance; I take one and wait for a mistake.`,
      zh: best ? `从第 ${heap + 1} 堆拿走 ${count} 颗，各堆就平衡了。` : `各堆已经平衡，我先拿一颗，等机器出错。`,
    },
  };
}

function advise(state, task) {
  return acted(state, choose(state.game, task));
}
