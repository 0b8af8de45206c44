"use strict";

function verify(state, task) {
  const on = state.lit.filter(Boolean).length, success = on === 0;
  return {
    success, failure: false, done: success, level: task.level, points: state.lit.length - on,
    score: success ? 1 : (state.lit.length - on) / (state.lit.length + 1),
    reason: success ? "" : `${on} lamps are lit`,
  };
}
