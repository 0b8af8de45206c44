"use strict";

function verify(state, task) {
  const way = Math.max(0, Math.min(1, (state.runner.x - 1) / (state.flag - 1)));
  const success = state.runner.x + state.size / 2 >= state.flag && state.runner.y >= 0, failure = !success && state.dead;
  return {
    success, failure, done: success || failure, level: task.level, points: Math.round(state.runner.x),
    score: success ? 1 : Math.min(0.99, way),
    reason: success ? "" : state.dead ? "the runner fell into a pit" : "the flag is not reached",
  };
}
