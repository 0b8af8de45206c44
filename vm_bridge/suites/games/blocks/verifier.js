"use strict";

function verify(state, task) {
  const covered = new Map();
  for (const piece of state.pieces) {
    if (!piece.at) continue;
    for (const [dx, dy] of piece.cells) {
      const key = `${piece.at[0] + dx},${piece.at[1] + dy}`;
      covered.set(key, (covered.get(key) || 0) + 1);
    }
  }
  let full = 0;
  for (let row = 0; row < state.rows; row++) {
    for (let column = 0; column < state.columns; column++) if (covered.get(`${column},${row}`) === 1) full++;
  }
  const all = state.rows * state.columns, success = full === all;
  return {
    success, failure: false, done: success, level: task.level, points: full, score: full / all,
    reason: success ? "" : `${full} of ${all} fields are covered`,
  };
}
