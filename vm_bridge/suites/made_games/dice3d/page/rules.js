"use strict";
// `sides` are the colours of a die: top, bottom, front, back, left, right. Gaps are tiles that are not there.

const ROLLS = {
  up: { x: 0, z: -1, turn: ([top, bottom, front, back, left, right]) => [front, back, bottom, top, left, right] },
  down: { x: 0, z: 1, turn: ([top, bottom, front, back, left, right]) => [back, front, top, bottom, left, right] },
  left: { x: -1, z: 0, turn: ([top, bottom, front, back, left, right]) => [right, left, front, back, top, bottom] },
  right: { x: 1, z: 0, turn: ([top, bottom, front, back, left, right]) => [left, right, front, back, bottom, top] },
};

// Where a roll leads; null where there is no tile.
function rolled(size, gaps, at, sides, way) {
  const { x, z, turn } = ROLLS[way], column = (at % size) + x, row = Math.floor(at / size) + z, to = row * size + column;
  if (column < 0 || row < 0 || column >= size || row >= size || gaps.includes(to)) return null;
  return { at: to, sides: turn(sides) };
}

const spot = ({ at, sides }) => at * 1000 + sides[0] * 100 + sides[2] * 10;

// The shortest way from a place: every spot that is met in turn, with the roll that led there.
function explore(size, gaps, from) {
  const seen = new Map([[spot(from), { ...from, before: null, way: "", far: 0 }]]);
  for (const node of seen.values()) {
    for (const way of Object.keys(ROLLS)) {
      const next = rolled(size, gaps, node.at, node.sides, way);
      if (next && !seen.has(spot(next))) seen.set(spot(next), { ...next, before: node, way, far: node.far + 1 });
    }
  }
  return seen;
}

const rules = {
  start(task, random) {
    const { size, gaps: count, least, spare } = task.slots, draw = random("board");
    for (;;) {
      const tiles = draw.shuffle([...Array(size * size).keys()]), gaps = tiles.slice(0, count).sort((a, b) => a - b);
      const from = { at: tiles[count], sides: [0, 1, 2, 3, 4, 5] };
      const ends = [...explore(size, gaps, from).values()].filter(({ far }) => far >= least && far <= least + 1);
      if (!ends.length) continue;
      const end = draw.pick(ends);
      if (end.at === from.at) continue;
      const best = [...explore(size, gaps, from).values()].find((one) => one.at === end.at && one.sides[0] === end.sides[0]);
      if (best.far < least) continue;
      return {
        schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level, score: 0,
        size, gaps, ...from, goal: end.at, colour: end.sides[0], left: best.far + spare,
      };
    }
  },
  actions(state) {
    if (state.terminal.isTerminal) return [];
    return Object.keys(ROLLS).filter((way) => rolled(state.size, state.gaps, state.at, state.sides, way));
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const { at, sides } = rolled(state.size, state.gaps, state.at, state.sides, action), left = state.left - 1;
    const won = at === state.goal && sides[0] === state.colour, over = won || left === 0;
    const score = Math.max(state.score, won ? 2 : at === state.goal ? 1 : 0);
    return { ...state, at, sides, left, score, terminal: { isTerminal: over, outcome: won ? "won" : over ? "lost" : null } };
  },
};
