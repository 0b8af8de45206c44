"use strict";

function verify(state, task) {
  const { goal } = task.slots;
  const success = state.lines >= goal, failure = !success && state.lost;
  return {
    success, failure, done: success || failure, level: task.level, points: state.lines,
    score: success ? 1 : state.lines / goal,
    reason: success ? "" : `${state.lines} of ${goal} lines were cleared${state.lost ? ", then the well was full" : ""}`,
  };
}
