"use strict";

// A breadth-first search over pushes; where the player may walk freely counts as one place.
const WAYS = [
  { key: "up", zh: "上", dx: 0, dy: -1 }, { key: "down", zh: "下", dx: 0, dy: 1 },
  { key: "left", zh: "左", dx: -1, dy: 0 }, { key: "right", zh: "右", dx: 1, dy: 0 },
];
const MOST = 60000;

function advise(state) {
  const { columns, rows } = state, walls = new Set(state.walls), targets = new Set(state.targets);
  const step = (way) => way.dy * columns + way.dx;
  const inside = (place) => place >= 0 && place < columns * rows && !walls.has(place);

  // From where a box alone may be pushed to a target; on other places it is lost.
  const alive = new Set(targets);
  for (const place of alive) {
    for (const way of WAYS) {
      const from = place - step(way);
      if (inside(from) && inside(from - step(way))) alive.add(from);
    }
  }

  function walked(from, boxes) {
    const came = new Map([[from, null]]);
    for (const place of came.keys()) {
      for (const way of WAYS) {
        const to = place + step(way);
        if (inside(to) && !boxes.has(to) && !came.has(to)) came.set(to, { from: place, way });
      }
    }
    return came;
  }

  function firstStep(came, to) {
    let way = null;
    for (let place = to; came.get(place); place = came.get(place).from) way = came.get(place).way;
    return way;
  }

  const nodes = [{ boxes: [...state.boxes].sort((a, b) => a - b), player: state.player, push: null }];
  const seen = new Set();
  for (let i = 0; i < nodes.length && i < MOST; i++) {
    const node = nodes[i];
    if (node.boxes.every((box) => targets.has(box))) {
      const { push } = node;
      if (!push) return null;
      const came = walked(state.player, new Set(state.boxes));
      const walk = firstStep(came, push.from);
      const way = walk || push.way;
      return {
        thought: walk
          ? { en: `I walk ${way.key} to get behind a box that has to go ${push.way.key}.`, zh: `向${way.zh}走，绕到箱子后面，准备把它向${push.way.zh}推。` }
          : { en: `I push the box ${way.key}, towards its target.`, zh: `把箱子向${way.zh}推，靠近目标。` },
        action: { kind: "press_keys", keys: [way.key] },
      };
    }
    const boxes = new Set(node.boxes), came = walked(node.player, boxes);
    const key = `${node.boxes.join()}/${Math.min(...came.keys())}`;
    if (seen.has(key)) continue;
    seen.add(key);
    for (const box of node.boxes) {
      for (const way of WAYS) {
        const to = box + step(way), from = box - step(way);
        if (!came.has(from) || !inside(to) || boxes.has(to) || !alive.has(to)) continue;
        const moved = node.boxes.map((one) => (one === box ? to : one)).sort((a, b) => a - b);
        nodes.push({ boxes: moved, player: box, push: node.push || { from, way } });
      }
    }
  }
  return {
    thought: { en: "A box is stuck; I begin the room again.", zh: "箱子卡住了，重新开始。" },
    action: { kind: "press_keys", keys: ["r"] },
  };
}
