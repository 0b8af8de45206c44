"use strict";

const movesOf = (count) => {
  const jugs = [...Array(count).keys()];
  const pours = jugs.flatMap((from) => jugs.filter((to) => to !== from).map((to) => `pour ${from} ${to}`));
  return [...jugs.map((jug) => `fill ${jug}`), ...jugs.map((jug) => `empty ${jug}`), ...pours];
};

// What the jugs hold after a move.
function after(sizes, held, move) {
  const [what, jug, other] = move.split(" "), next = held.slice(), from = Number(jug), to = Number(other);
  if (what === "fill") next[from] = sizes[from];
  else if (what === "empty") next[from] = 0;
  else {
    const poured = Math.min(held[from], sizes[to] - held[to]);
    next[from] -= poured;
    next[to] += poured;
  }
  return next;
}

const differs = (one, other) => one.some((litres, jug) => litres !== other[jug]);

// Everything that can be reached, in the order of how many moves it takes, with the first of them.
function explore(sizes, from) {
  const key = (held) => held.reduce((sum, litres) => sum * 10 + litres, 0), moves = movesOf(sizes.length);
  const seen = new Map([[key(from), { held: from, far: 0, first: "" }]]);
  for (const node of seen.values()) {
    for (const move of moves) {
      const held = after(sizes, node.held, move);
      if (!seen.has(key(held))) seen.set(key(held), { held, far: node.far + 1, first: node.first || move });
    }
  }
  return [...seen.values()];
}

const rules = {
  start(task, random) {
    const { jugs, largest, least, spare } = task.slots, draw = random("jugs"), sizes = Array.from({ length: largest - 1 }, (_, i) => i + 2);
    for (;;) {
      const chosen = draw.shuffle(sizes).slice(0, jugs).sort((one, other) => other - one), far = new Map();
      for (const node of explore(chosen, chosen.map(() => 0))) {
        for (const litres of node.held) if (!far.has(litres)) far.set(litres, node.far);
      }
      const wanted = [...far.keys()].filter((litres) => far.get(litres) >= least && far.get(litres) <= least + 2);
      if (!wanted.length) continue;
      const goal = draw.pick(wanted);
      return {
        schemaVersion: 1, terminal: { isTerminal: false, outcome: null }, level: task.level, score: 0,
        sizes: chosen, held: chosen.map(() => 0), goal, left: far.get(goal) + spare,
      };
    }
  },
  actions(state) {
    if (state.terminal.isTerminal) return [];
    return movesOf(state.sizes.length).filter((move) => differs(after(state.sizes, state.held, move), state.held));
  },
  step(state, action) {
    if (!rules.actions(state).includes(action)) return state;
    const held = after(state.sizes, state.held, action), left = state.left - 1, won = held.includes(state.goal);
    const over = won || left === 0, terminal = { isTerminal: over, outcome: won ? "won" : over ? "lost" : null };
    return { ...state, held, left, score: won ? 1 : 0, terminal };
  },
};
