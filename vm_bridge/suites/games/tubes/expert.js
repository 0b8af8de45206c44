"use strict";

// The shortest solution; the same tubes in another order are the same.
const MOST = 60000;

function advise(state, task) {
  const { high } = state, seen = new Map();
  const pure = (tube) => new Set(tube).size <= 1;
  const finished = (tubes) => tubes.every((tube) => !tube.length || (tube.length === high && pure(tube)));

  // A pour joins two runs of one colour at best, so no solution is shorter than the runs there are too many.
  const runs = (tubes) =>
    tubes.reduce((sum, tube) => sum + tube.filter((colour, i) => i === 0 || colour !== tube[i - 1]).length, 0) - task.slots.colours;

  function pours(tubes) {
    const found = [], empty = tubes.findIndex((tube) => !tube.length);
    tubes.forEach((from, i) => {
      if (!from.length || (pure(from) && from.length === high)) return;
      tubes.forEach((to, j) => {
        if (i === j || to.length === high || (to.length && to.at(-1) !== from.at(-1))) return;
        if (to.length || (j === empty && !pure(from))) found.push({ from: i, to: j });
      });
    });
    return found;
  }

  function poured(tubes, { from, to }) {
    const after = tubes.map((tube) => tube.slice()), colour = after[from].at(-1);
    while (after[to].length < high && after[from].at(-1) === colour) after[to].push(after[from].pop());
    return after;
  }

  // A*, the last found of equal length first; gives the first pour of a shortest solution.
  function solve(start) {
    const shelves = [], put = (node) => (shelves[node.steps + runs(node.tubes)] ||= []).push(node);
    put({ tubes: start, steps: 0, first: null });
    for (let length = 0; length < shelves.length; length++) {
      while (shelves[length]?.length) {
        const node = shelves[length].pop();
        if (finished(node.tubes)) return node.first;
        const key = node.tubes.map((tube) => tube.join("")).sort().join("|");
        if ((seen.get(key) ?? Infinity) <= node.steps) continue;
        if (seen.size > MOST) return null;
        seen.set(key, node.steps);
        for (const pour of pours(node.tubes)) {
          put({ tubes: poured(node.tubes, pour), steps: node.steps + 1, first: node.first || pour });
        }
      }
    }
    return null;
  }

  const first = solve(state.tubes);
  if (!first) return null;
  const { from, to } = first;
  const click = (tube) => ({ kind: "click", ...state.points[tube] });
  if (state.picked !== null && state.picked !== from) {
    return {
      thought: { en: "Another tube is picked up; I put it down.", zh: "选错了试管，先放下。" },
      action: click(state.picked),
    };
  }
  return state.picked === null
    ? {
        thought: { en: `I pour tube ${from + 1} into tube ${to + 1}: pick it up first.`, zh: `把第 ${from + 1} 根倒入第 ${to + 1} 根，先拿起它。` },
        action: click(from),
      }
    : {
        thought: { en: `Now into tube ${to + 1}.`, zh: `现在倒入第 ${to + 1} 根。` },
        action: click(to),
      };
}
