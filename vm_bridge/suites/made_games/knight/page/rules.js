"use strict";

const JUMPS = [[1, 2], [2, 1], [-1, 2], [-2, 1], [1, -2], [2, -1], [-1, -2], [-2, -1]];

function reachable(size, at) {
  const column = at % size, row = Math.floor(at / size);
  return JUMPS.map(([x, y]) => [column + x, row + y])
    .filter(([x, y]) => x >= 0 && y >= 0 && x < size && y < size)
    .map(([x, y]) => y * size + x).sort((one, other) => one - other);
}

// The shortest way to the nearest pawn, as the squares to jump to.
function wayToNearest(size, at, pawns) {
  const before = new Map([[at, null]]);
  for (const here of before.keys()) {
    if (here !== at && pawns.includes(here)) {
      const way = [];
      for (let back = here; back !== at; back = before.get(back)) way.unshift(back);
      return way;
    }
    for (const next of reachable(size, here)) if (!before.has(next)) before.set(next, here);
  }
  return [];
}

const rules = {
  start(task, random) {
    const { size, pawns: count, spare } = task.slots, draw = random("board");
    const [at, ...rest] = draw.shuffle([...Array(size * size).keys()]).slice(0, count + 1);
    const pawns = rest.sort((one, other) => one - other);
    let needed = 0, here = at;
    for (let left = pawns; left.length; left = left.filter((one) => one !== here)) {
      const way = wayToNearest(size, here, left);
      needed += way.length;
      here = way[way.length - 1];
    }
    return {
      schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level, score: 0,
      size, at, pawns, count, left: needed + spare,
    };
  },
  actions(state) {
    return state.terminal.isTerminal ? [] : reachable(state.size, state.at).map((square) => `square ${square}`);
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const at = Number(action.split(" ")[1]), pawns = state.pawns.filter((one) => one !== at), left = state.left - 1;
    const won = !pawns.length, over = won || left === 0;
    const terminal = { isTerminal: over, outcome: won ? "won" : over ? "lost" : null };
    return { ...state, at, pawns, left, score: state.count - pawns.length, terminal };
  },
};
