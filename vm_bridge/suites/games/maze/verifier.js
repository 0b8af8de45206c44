"use strict";

function verify(state, task) {
  const all = task.slots.coins, found = all - state.coins.length, there = state.player === state.goal;
  const success = there && state.coins.length === 0;
  return {
    success, failure: false, done: success, level: task.level, points: found, score: success ? 1 : found / (all + 1),
    reason: success ? "" : `${found} of ${all} coins are found and the flag is ${there ? "" : "not "}reached`,
  };
}
