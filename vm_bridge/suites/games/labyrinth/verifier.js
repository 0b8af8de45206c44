"use strict";

function verify(state, task) {
  const success = state.marble === state.goal, failure = !success && state.holes.includes(state.marble);
  const { size } = state, apart = (a, b) => Math.abs((a % size) - (b % size)) + Math.abs(Math.floor(a / size) - Math.floor(b / size));
  return {
    success, failure, done: success || failure, level: task.level, points: success ? 1 : 0,
    score: success ? 1 : failure ? 0 : 0.5 * (1 - apart(state.marble, state.goal) / (2 * size)),
    reason: success ? "" : failure ? "the marble fell into a hole" : "the marble is not on the goal",
  };
}
