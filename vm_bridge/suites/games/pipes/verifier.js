"use strict";

function verify(state, task) {
  const { columns, rows, pieces, source } = state;
  const ways = [[1, 0, -1, 4], [2, 1, 0, 8], [4, 0, 1, 1], [8, -1, 0, 2]];
  const reached = new Set([source]);
  for (const place of reached) {
    for (const [bit, dx, dy, back] of ways) {
      const column = (place % columns) + dx, row = Math.floor(place / columns) + dy;
      if (column < 0 || row < 0 || column >= columns || row >= rows) continue;
      const to = row * columns + column;
      if (pieces[place] & bit && pieces[to] & back) reached.add(to);
    }
  }
  const success = reached.size === pieces.length;
  return {
    success, failure: false, done: success, level: task.level, points: reached.size, score: reached.size / pieces.length,
    reason: success ? "" : `water reaches ${reached.size} of ${pieces.length} pieces`,
  };
}
