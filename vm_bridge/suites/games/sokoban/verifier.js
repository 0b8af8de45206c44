"use strict";

function verify(state, task) {
  const stored = state.boxes.filter((box) => state.targets.includes(box)).length, all = state.targets.length;
  const success = stored === all;
  return {
    success, failure: false, done: success, level: task.level, points: stored, score: stored / all,
    reason: success ? "" : `${stored} of ${all} boxes are on targets`,
  };
}
