"use strict";

// Tries every turn and column of the piece, and of the next one after it; takes the flattest heap with the fewest holes.
function advise(state) {
  const { heap, size } = state, columns = heap[0].length;
  const fits = (rows, shape, left, top) => shape.every(([dx, dy]) => rows[top + dy]?.[left + dx] === 0);
  const sum = (list) => list.reduce((total, one) => total + one, 0);

  // The heap once the shape has been dropped there, without its full rows; null where it cannot stand.
  function dropped(rows, shape, left, top) {
    if (!fits(rows, shape, left, top)) return null;
    while (fits(rows, shape, left, top + 1)) top++;
    const filled = rows.map((row) => row.slice());
    for (const [dx, dy] of shape) filled[top + dy][left + dx] = 1;
    const rest = filled.filter((row) => row.includes(0));
    return { cleared: rows.length - rest.length, rows: [...Array.from({ length: rows.length - rest.length }, () => Array(columns).fill(0)), ...rest] };
  }

  function cost(rows) {
    const heights = [], holes = [];
    for (let column = 0; column < columns; column++) {
      const first = rows.findIndex((row) => row[column]);
      heights.push(first < 0 ? 0 : rows.length - first);
      holes.push(first < 0 ? 0 : rows.slice(first).filter((row) => !row[column]).length);
    }
    const bumps = heights.slice(1).map((height, i) => Math.abs(height - heights[i]));
    return 0.51 * sum(heights) + 3 * sum(holes) + 0.18 * sum(bumps);
  }

  function* ways(rows, shape, side, top) {
    for (let turns = 0; turns < 4; turns++) {
      for (let left = -2; left < columns; left++) {
        const found = dropped(rows, shape, left, top);
        if (found) yield { ...found, turns, left };
      }
      shape = shape.map(([dx, dy]) => [side - 1 - dy, dx]);
    }
  }

  let best = { cost: Infinity, turns: 0, left: state.x };
  for (const way of ways(heap, state.cells, size, state.y)) {
    const after = Math.min(...[...ways(way.rows, state.ahead.cells, state.ahead.size, 0)].map((next) => cost(next.rows) - 4 * next.cleared));
    const found = after - 4 * way.cleared + 0.001 * (way.turns + Math.abs(way.left - state.x));
    if (found < best.cost) best = { ...way, cost: found };
  }
  const press = (key, en, zh) => ({ thought: { en, zh }, action: { kind: "press_keys", keys: [key] } });
  const column = best.left + Math.min(...state.cells.map(([dx]) => dx)) + 1;
  if (best.turns) return press("up", "The piece fits better when it is turned.", "把方块旋转一下更合适。");
  if (best.left < state.x) return press("left", `The piece belongs in column ${column}, to the left.`, `方块应放在左边第 ${column} 列。`);
  if (best.left > state.x) return press("right", `The piece belongs in column ${column}, to the right.`, `方块应放在右边第 ${column} 列。`);
  return press("space", "The piece is over its place; I drop it.", "方块已对准位置，直接落下。");
}
