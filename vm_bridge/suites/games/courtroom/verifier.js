"use strict";

function verify(state, task) {
  const success = state.right === state.all, failure = !success && state.lost;
  return {
    success, failure, done: success || failure, level: task.level, points: state.right,
    score: success ? 1 : state.right / state.all,
    reason: success ? "" : `${state.right} of ${state.all} lies are exposed${state.lost ? ", then the case was lost" : ""}`,
  };
}
