"use strict";
// `waiting` holds {at, to} in the order of arrival, `inside` the floors that riders want. Floors count from 0.

const ROOM = 2;

// Doors open: riders get out, then those who wait come in as far as there is room.
function opened({ at, inside, waiting, served }) {
  const staying = inside.filter((to) => to !== at), rest = [];
  for (const one of waiting) {
    if (one.at === at && staying.length < ROOM) staying.push(one.to);
    else rest.push(one);
  }
  return { inside: staying, waiting: rest, served: served + inside.filter((to) => to === at).length };
}

function canOpen(state) {
  const { inside, waiting, at } = state;
  return inside.includes(at) || (inside.length < ROOM && waiting.some((one) => one.at === at));
}

// What a careful operator does: opens where it helps, else goes to the nearest floor that matters.
function sensible(state) {
  if (canOpen(state)) return "open";
  const wanted = state.inside.length < ROOM ? [...state.inside, ...state.waiting.map((one) => one.at)] : state.inside;
  const nearest = wanted.reduce((one, other) => (Math.abs(other - state.at) < Math.abs(one - state.at) ? other : one));
  return nearest > state.at ? "up" : "down";
}

function moved(state, action) {
  if (action === "open") return { ...state, ...opened(state) };
  return { ...state, at: state.at + (action === "up" ? 1 : -1) };
}

const rules = {
  start(task, random) {
    const { floors, people, spare } = task.slots, draw = random("people");
    const waiting = Array.from({ length: people }, () => {
      const [at, to] = draw.shuffle([...Array(floors).keys()]);
      return { at, to };
    });
    const first = { at: draw.int(0, floors - 1), inside: [], waiting, served: 0 };
    let needed = 0;
    for (let trial = first; trial.served < people; needed++) trial = moved(trial, sensible(trial));
    return {
      schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level, score: 0,
      floors, people, ...first, left: needed + spare,
    };
  },
  actions(state) {
    if (state.terminal.isTerminal) return [];
    const found = canOpen(state) ? ["open"] : [];
    if (state.at < state.floors - 1) found.push("up");
    if (state.at > 0) found.push("down");
    return found;
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const next = moved(state, action), left = state.left - 1, won = next.served === state.people, over = won || left === 0;
    const terminal = { isTerminal: over, outcome: won ? "won" : over ? "lost" : null };
    return { ...next, left, score: next.served, terminal };
  },
};
