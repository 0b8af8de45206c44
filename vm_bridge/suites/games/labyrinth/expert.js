"use strict";

// The fewest tilts to the goal, by breadth.
const WAYS = [
  { key: "up", zh: "上", dx: 0, dy: -1 }, { key: "down", zh: "下", dx: 0, dy: 1 },
  { key: "left", zh: "左", dx: -1, dy: 0 }, { key: "right", zh: "右", dx: 1, dy: 0 },
];

function advise(state) {
  const { size, walls, holes, goal, marble } = state;
  if (state.rolling) return { thought: { en: "The marble still rolls.", zh: "弹珠还在滚动。" }, action: { kind: "wait", seconds: 0.5 } };
  const shut = new Set(walls), trap = new Set(holes);
  function roll(from, { dx, dy }) {
    for (let place = from; ; ) {
      const column = (place % size) + dx, row = Math.floor(place / size) + dy, next = row * size + column;
      if (column < 0 || row < 0 || column >= size || row >= size) return place;
      if (shut.has(`${Math.min(place, next)}|${Math.max(place, next)}`)) return place;
      if (next === goal || trap.has(next)) return next;
      place = next;
    }
  }
  const came = new Map([[marble, null]]);
  for (const place of came.keys()) {
    if (place === goal || trap.has(place)) continue;
    for (const way of WAYS) {
      const end = roll(place, way);
      if (!came.has(end)) came.set(end, { place, way });
    }
  }
  if (!came.get(goal)) return null;
  let left = 0, way = null;
  for (let place = goal; came.get(place); place = came.get(place).place) {
    way = came.get(place).way;
    left++;
  }
  return {
    thought: {
      en: `${left} tilt${left > 1 ? "s" : ""} lead to the goal past the holes; ${way.key} is next.`,
      zh: `再倾斜 ${left} 次就能避开洞到达终点，下一步向${way.zh}。`,
    },
    action: { kind: "press_keys", keys: [way.key] },
  };
}
