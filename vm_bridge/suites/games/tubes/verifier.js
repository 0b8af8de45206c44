"use strict";

function verify(state, task) {
  const pure = state.tubes.filter((tube) => tube.length === state.high && new Set(tube).size === 1).length;
  const { colours } = task.slots, success = pure === colours;
  return {
    success, failure: false, done: success, level: task.level, points: pure, score: pure / colours,
    reason: success ? "" : `${pure} of ${colours} colours are alone in a tube`,
  };
}
