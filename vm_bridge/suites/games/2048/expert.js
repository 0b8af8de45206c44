"use strict";

// Looks two moves ahead over every place a tile may appear; likes free cells and large tiles along one edge.
const MOVES = [
  { key: "left", dx: -1, dy: 0, zh: "左" }, { key: "up", dx: 0, dy: -1, zh: "上" },
  { key: "right", dx: 1, dy: 0, zh: "右" }, { key: "down", dx: 0, dy: 1, zh: "下" },
];
const WEIGHTS = [64, 32, 16, 8, 1, 2, 4, 6, 1, 1, 1, 1, 0, 0, 0, 0];

function slid(cells, { dx, dy }) {
  const after = cells.slice();
  let merged = 0;
  for (let line = 0; line < 4; line++) {
    const order = dx > 0 || dy > 0 ? [3, 2, 1, 0] : [0, 1, 2, 3];
    const places = order.map((step) => (dx ? line * 4 + step : step * 4 + line));
    const before = places.map((place) => cells[place]).filter(Boolean);
    const row = [];
    for (let i = 0; i < before.length; i++) {
      if (before[i] === before[i + 1]) {
        row.push(2 * before[i++]);
        merged++;
      } else {
        row.push(before[i]);
      }
    }
    places.forEach((place, i) => (after[place] = row[i] || 0));
  }
  return after.some((value, i) => value !== cells[i]) ? { after, merged } : null;
}

const worth = (cells) => cells.reduce((sum, value, i) => sum + value * WEIGHTS[i] + (value ? 0 : 60), 0);

function best(cells, depth) {
  let found = { value: -1e6, move: null };
  for (const move of MOVES) {
    const next = slid(cells, move);
    if (!next) continue;
    let value = worth(next.after) + 20 * next.merged;
    if (depth > 0) {
      const empty = next.after.flatMap((cell, i) => (cell ? [] : [i])).slice(0, 6);
      const ahead = empty.map((place) => best(next.after.with(place, 2), depth - 1).value);
      value = ahead.reduce((sum, one) => sum + one, 0) / (ahead.length || 1);
    }
    if (value > found.value) found = { value, move };
  }
  return found;
}

function advise(state) {
  const { move } = best(state.cells, 2);
  const { merged } = slid(state.cells, move);
  return {
    thought: merged
      ? { en: `Sliding ${move.key} merges ${merged} pair${merged > 1 ? "s" : ""}.`, zh: `向${move.zh}滑动可以合并 ${merged} 对方块。` }
      : { en: `Nothing merges well; ${move.key} keeps the large tiles together.`, zh: `暂时没有好的合并，向${move.zh}滑动让大数字靠在一起。` },
    action: { kind: "press_keys", keys: [move.key] },
  };
}
