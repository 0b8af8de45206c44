"use strict";

function verify(state, task) {
  const all = state.columns * state.rows - state.mines.length, mines = new Set(state.mines);
  const safe = state.open.filter((place) => !mines.has(place)).length;
  const success = safe === all && !state.lost, failure = state.lost;
  return {
    success, failure, done: success || failure, level: task.level, points: safe,
    score: success ? 1 : Math.min(0.99, safe / all),
    reason: success ? "" : `${safe} of ${all} safe fields are open${state.lost ? ", and a mine went off" : ""}`,
  };
}
