"use strict";

function verify(state, task) {
  const { columns, rows, mirrors, target } = state;
  let column = -1, row = state.from, dx = 1, dy = 0, success = false, bounces = 0;
  for (let i = 0; i < 4 * columns * rows && !success; i++) {
    column += dx;
    row += dy;
    if (column < 0 || row < 0 || column >= columns || row >= rows) break;
    const mirror = mirrors[row * columns + column];
    success = row * columns + column === target;
    if (mirror) {
      [dx, dy] = mirror === "/" ? [-dy, -dx] : [dy, dx];
      bounces++;
    }
  }
  const right = Object.keys(state.solved).filter((place) => mirrors[place] === state.solved[place]).length;
  return {
    success, failure: false, done: success, level: task.level, points: bounces,
    score: success ? 1 : right / (task.slots.mirrors + 1),
    reason: success ? "" : `the beam turns ${bounces} times and misses the target`,
  };
}
