"use strict";
// Leaves hold 1 (a frog, goes right), -1 (a toad, goes left) or 0 (free).

// Where the animal on a leaf would land; -1 where it cannot hop.
function landing(leaves, at) {
  const way = leaves[at];
  if (!way) return -1;
  if (leaves[at + way] === 0) return at + way;
  return leaves[at + way] === -way && leaves[at + 2 * way] === 0 ? at + 2 * way : -1;
}

function hopped(leaves, at) {
  const next = leaves.slice();
  next[landing(leaves, at)] = leaves[at];
  next[at] = 0;
  return next;
}

const movable = (leaves) => [...leaves.keys()].filter((at) => landing(leaves, at) >= 0);

// How far a side has come in all; `whole` when everybody has arrived.
function progress(leaves, frogs) {
  const toads = leaves.length - 1 - frogs, sum = (places) => places.reduce((one, other) => one + other, 0);
  const at = (kind) => [...leaves.keys()].filter((place) => leaves[place] === kind);
  const first = sum(Array.from({ length: frogs }, (_, i) => i)), last = sum(Array.from({ length: toads }, (_, i) => frogs + 1 + i));
  return { gone: sum(at(1)) - first + (last - sum(at(-1))), whole: 2 * frogs * toads + frogs + toads };
}

const rules = {
  start(task, random) {
    const { animals } = task.slots, draw = random("leaves");
    const frogs = draw.int(Math.floor(animals / 2) - 1, Math.floor(animals / 2) + 1);
    let leaves = [...Array(frogs).fill(1), 0, ...Array(animals - frogs).fill(-1)];
    if (draw.int(0, 1)) leaves = hopped(leaves, draw.pick([frogs - 1, frogs + 1]));
    return {
      schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level,
      score: progress(leaves, frogs).gone, frogs, leaves,
    };
  },
  actions(state) {
    return state.terminal.isTerminal ? [] : movable(state.leaves).map((at) => `leaf ${at}`);
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const leaves = hopped(state.leaves, Number(action.split(" ")[1]));
    const { gone, whole } = progress(leaves, state.frogs), won = gone === whole, stuck = !movable(leaves).length;
    const terminal = { isTerminal: won || stuck, outcome: won ? "won" : stuck ? "lost" : null };
    return { ...state, leaves, score: gone, terminal };
  },
};
