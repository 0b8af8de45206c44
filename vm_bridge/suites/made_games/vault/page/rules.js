"use strict";
// A guess is judged as soon as it is complete. `code` is not shown on the page before the end.

// How many are right in their place, and how many more are right elsewhere.
function compare(guess, code) {
  const exact = guess.filter((one, i) => one === code[i]).length;
  let common = 0;
  for (const symbol of new Set(guess)) {
    common += Math.min(guess.filter((one) => one === symbol).length, code.filter((one) => one === symbol).length);
  }
  return { exact, elsewhere: common - exact };
}

const rules = {
  start(task, random) {
    const { places, symbols, guesses } = task.slots, draw = random("code");
    return {
      schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level, score: 0,
      symbols, most: guesses, code: Array.from({ length: places }, () => draw.int(0, symbols - 1)), entry: [], rows: [],
    };
  },
  actions(state) {
    return state.terminal.isTerminal ? [] : Array.from({ length: state.symbols }, (_, symbol) => `colour ${symbol}`);
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const entry = [...state.entry, Number(action.split(" ")[1])];
    if (entry.length < state.code.length) return { ...state, entry };
    const said = compare(entry, state.code), rows = [...state.rows, { guess: entry, ...said }];
    const won = said.exact === state.code.length, over = won || rows.length === state.most;
    return {
      ...state, entry: [], rows, score: Math.max(state.score, said.exact),
      terminal: { isTerminal: over, outcome: won ? "won" : over ? "lost" : null },
    };
  },
};
