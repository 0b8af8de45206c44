"use strict";

function verify(state, task) {
  const { pairs } = task.slots, found = state.found.length / 2, success = found === pairs;
  return {
    success, failure: false, done: success, level: task.level, points: found, score: found / pairs,
    reason: success ? "" : `${found} of ${pairs} pairs are found`,
  };
}
