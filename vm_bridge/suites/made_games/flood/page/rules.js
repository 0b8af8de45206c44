"use strict";
// Every move recolours the area that hangs together with the top left cell.

function areaOf(cells, size) {
  const colour = cells[0], seen = new Set([0]), open = [0];
  while (open.length) {
    const at = open.pop(), column = at % size, row = Math.floor(at / size);
    const beside = [column > 0 && at - 1, column < size - 1 && at + 1, row > 0 && at - size, row < size - 1 && at + size];
    for (const next of beside) {
      if (next === false || seen.has(next) || cells[next] !== colour) continue;
      seen.add(next);
      open.push(next);
    }
  }
  return seen;
}

function recoloured(cells, size, colour) {
  const area = areaOf(cells, size);
  return cells.map((one, at) => (area.has(at) ? colour : one));
}

// The colour after which the area is largest; of equal ones the first.
function widest(cells, size, colours) {
  let best = -1, most = 0;
  for (let colour = 0; colour < colours; colour++) {
    if (colour === cells[0]) continue;
    const area = areaOf(recoloured(cells, size, colour), size).size;
    if (area > most) [best, most] = [colour, area];
  }
  return best;
}

const rules = {
  start(task, random) {
    const { size, colours } = task.slots, draw = random("cells");
    const cells = Array.from({ length: size * size }, () => draw.int(0, colours - 1));
    if (cells.every((one) => one === cells[0])) cells[1] = (cells[0] + 1) % colours;
    let trial = cells, needed = 0;
    while (trial.some((one) => one !== trial[0])) {
      trial = recoloured(trial, size, widest(trial, size, colours));
      needed++;
    }
    return {
      schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level,
      score: areaOf(cells, size).size, size, colours, cells, left: needed + 1,
    };
  },
  actions(state) {
    if (state.terminal.isTerminal) return [];
    return Array.from({ length: state.colours }, (_, colour) => `colour ${colour}`).filter((_, colour) => colour !== state.cells[0]);
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const cells = recoloured(state.cells, state.size, Number(action.split(" ")[1]));
    const score = areaOf(cells, state.size).size, left = state.left - 1, won = score === cells.length;
    const terminal = { isTerminal: won || left === 0, outcome: won ? "won" : left === 0 ? "lost" : null };
    return { ...state, cells, score, left, terminal };
  },
};
