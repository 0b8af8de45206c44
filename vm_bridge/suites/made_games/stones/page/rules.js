"use strict";
// What the machine does follows from `luck`, numbers that are drawn at the start, one a turn.

const nimSum = (heaps) => heaps.reduce((sum, heap) => sum ^ heap, 0);

// The move after which the nim sum is 0; null where there is none.
function perfect(heaps) {
  const sum = nimSum(heaps), heap = heaps.findIndex((one) => (one ^ sum) < one);
  return heap < 0 ? null : { heap, count: heaps[heap] - (heaps[heap] ^ sum) };
}

const taken = (heaps, { heap, count }) => heaps.map((one, i) => (i === heap ? one - count : one));

function answer(heaps, luck, skill) {
  const best = luck % 100 < skill ? perfect(heaps) : null;
  if (best) return best;
  const moves = heaps.flatMap((one, heap) => Array.from({ length: one }, (_, i) => ({ heap, count: i + 1 })));
  return moves[Math.floor(luck / 100) % moves.length];
}

const rules = {
  start(task, random) {
    const { heaps: count, tallest, skill } = task.slots, draw = random("heaps");
    const heaps = Array.from({ length: count }, () => draw.int(1, tallest));
    while (nimSum(heaps) === 0) heaps[draw.int(0, count - 1)] = draw.int(1, tallest);
    return {
      schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level, score: 0,
      tallest, skill, heaps, turn: 0, luck: Array.from({ length: count * tallest }, () => draw.int(0, 99999)), reply: null,
    };
  },
  actions(state) {
    if (state.terminal.isTerminal) return [];
    return state.heaps.flatMap((one, heap) => Array.from({ length: one }, (_, i) => `heap ${heap} take ${i + 1}`));
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const [, heap, , count] = action.split(" ").map(Number), mine = taken(state.heaps, { heap, count });
    const score = state.score + count, turn = state.turn + 1, over = (outcome) => ({ isTerminal: true, outcome });
    if (mine.every((one) => one === 0)) return { ...state, heaps: mine, score, turn, reply: null, terminal: over("won") };
    const reply = answer(mine, state.luck[state.turn], state.skill), heaps = taken(mine, reply);
    const lost = heaps.every((one) => one === 0);
    return { ...state, heaps, score, turn, reply, terminal: lost ? over("lost") : state.terminal };
  },
};
