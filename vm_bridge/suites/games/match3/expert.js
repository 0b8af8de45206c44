"use strict";

// Takes the swap that clears most at once and by what then falls; low swaps move more above them.
function advise(state) {
  const { size, gems, view } = state;
  if (state.busy) return { thought: { en: "The gems still fall.", zh: "宝石还在下落。" }, action: { kind: "wait", seconds: 1 } };

  function lines(field) {
    const found = new Set();
    for (let place = 0; place < size * size; place++) {
      const column = place % size, row = Math.floor(place / size);
      for (const [step, room] of [[1, column < size - 2], [size, row < size - 2]]) {
        const three = [place, place + step, place + 2 * step];
        if (room && field[place] >= 0 && three.every((one) => field[one] === field[place])) three.forEach((one) => found.add(one));
      }
    }
    return found;
  }

  function cleared(field) {
    const found = lines(field);
    if (!found.size) return 0;
    const after = Array(size * size).fill(-1);
    for (let column = 0; column < size; column++) {
      const left = [];
      for (let row = 0; row < size; row++) if (!found.has(row * size + column)) left.push(field[row * size + column]);
      while (left.length < size) left.unshift(-1);
      left.forEach((kind, row) => (after[row * size + column] = kind));
    }
    return found.size + cleared(after);
  }

  let best = null;
  for (let place = 0; place < size * size; place++) {
    for (const [other, room] of [[place + 1, place % size < size - 1], [place + size, place + size < size * size]]) {
      if (!room) continue;
      const after = gems.slice();
      [after[place], after[other]] = [after[other], after[place]];
      const count = cleared(after);
      if (count && (!best || count >= best.count)) best = { count, place, other };
    }
  }
  if (!best) return null;
  const point = (place) => ({
    x: Math.round(view.left + ((place % size) + 0.5) * view.cell),
    y: Math.round(view.top + (Math.floor(place / size) + 0.5) * view.cell),
  });
  return {
    thought: { en: `This swap clears ${best.count} gems.`, zh: `这次交换能消除 ${best.count} 个宝石。` },
    action: { kind: "drag", start: point(best.place), end: point(best.other) },
  };
}
