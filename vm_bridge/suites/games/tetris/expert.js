"use strict";

// Tries every turn and column of the piece and takes the flattest heap with the fewest holes.
function advise(state) {
  const { heap, size } = state, rows = heap.length, columns = heap[0].length;
  const fits = (shape, left, top) => shape.every(([dx, dy]) => heap[top + dy]?.[left + dx] === 0);

  function cost(shape, left) {
    let top = state.y;
    if (!fits(shape, left, top)) return Infinity;
    while (fits(shape, left, top + 1)) top++;
    const filled = heap.map((row) => row.slice());
    for (const [dx, dy] of shape) filled[top + dy][left + dx] = 1;
    const rest = filled.filter((row) => row.includes(0)), cleared = rows - rest.length;
    const heights = [], holes = [];
    for (let column = 0; column < columns; column++) {
      const first = rest.findIndex((row) => row[column]);
      heights.push(first < 0 ? 0 : rest.length - first);
      holes.push(first < 0 ? 0 : rest.slice(first).filter((row) => !row[column]).length);
    }
    const sum = (list) => list.reduce((total, one) => total + one, 0);
    const bumps = heights.slice(1).map((height, i) => Math.abs(height - heights[i]));
    return 0.51 * sum(heights) + 3 * sum(holes) + 0.18 * sum(bumps) - 4 * cleared;
  }

  let best = { cost: Infinity, turns: 0, left: state.x }, shape = state.cells;
  for (let turns = 0; turns < 4; turns++) {
    for (let left = -2; left < columns; left++) {
      const found = cost(shape, left) + 0.001 * (turns + Math.abs(left - state.x));
      if (found < best.cost) best = { cost: found, turns, left };
    }
    shape = shape.map(([dx, dy]) => [size - 1 - dy, dx]);
  }
  const press = (key, en, zh) => ({ thought: { en, zh }, action: { kind: "press_keys", keys: [key] } });
  const column = best.left + Math.min(...state.cells.map(([dx]) => dx)) + 1;
  if (best.turns) return press("up", "The piece fits better when it is turned.", "把方块旋转一下更合适。");
  if (best.left < state.x) return press("left", `The piece belongs in column ${column}, to the left.`, `方块应放在左边第 ${column} 列。`);
  if (best.left > state.x) return press("right", `The piece belongs in column ${column}, to the right.`, `方块应放在右边第 ${column} 列。`);
  return press("space", "The piece is over its place; I drop it.", "方块已对准位置，直接落下。");
}
