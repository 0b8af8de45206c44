"use strict";
// `stack` has the sizes from top to bottom, from 1.

const flipped = (stack, count) => [...stack.slice(0, count).reverse(), ...stack.slice(count)];

// How many lie where they belong, counted from the bottom.
function settled(stack) {
  let count = 0;
  while (count < stack.length && stack[stack.length - 1 - count] === stack.length - count) count++;
  return count;
}

// The next flip of the usual method: the largest that is not in place goes to the top, then down to its place.
function nextFlip(stack) {
  const size = stack.length - settled(stack), at = stack.indexOf(size);
  return at === 0 ? size : at + 1;
}

const rules = {
  start(task, random) {
    const { count, spare } = task.slots, draw = random("stack"), sizes = Array.from({ length: count }, (_, i) => i + 1);
    let stack = draw.shuffle(sizes);
    while (settled(stack) > 0) stack = draw.shuffle(sizes);
    let needed = 0;
    for (let trial = stack; settled(trial) < count; needed++) trial = flipped(trial, nextFlip(trial));
    return {
      schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level,
      score: 0, stack, left: needed + spare,
    };
  },
  actions(state) {
    if (state.terminal.isTerminal) return [];
    return Array.from({ length: state.stack.length - 1 }, (_, i) => `flip ${i + 2}`);
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const stack = flipped(state.stack, Number(action.split(" ")[1])), left = state.left - 1, score = settled(stack);
    const won = score === stack.length, over = won || left === 0;
    return { ...state, stack, left, score, terminal: { isTerminal: over, outcome: won ? "won" : over ? "lost" : null } };
  },
};
