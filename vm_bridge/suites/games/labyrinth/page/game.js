"use strict";

// The marble rolls until a wall stops it. Walls stand between fields: `walls` holds "a|b" of the two they part.
const SPEED = 0.012;
const COLOURS = pilothouse.theme.colours.map(game.rgb);
let size, walls, holes, goal, marble, path, rolled, lost, won, last, again;

function setup(task) {
  ({ size } = task.slots);
  const draw = pilothouse.random("labyrinth", task);
  while (!make(draw, task.slots));
  path = [];
  rolled = 0;
  lost = won = false;
  game.title({ en: "Marble labyrinth", zh: "弹珠迷宫" });
  again = solids.scene(paint);
  show();
}

const WAYS = [[0, -1], [0, 1], [-1, 0], [1, 0]];
const parts = (one, other) => `${Math.min(one, other)}|${Math.max(one, other)}`;

// The fields a marble passes from `from` in one direction, the last where it stays.
function roll(from, [dx, dy]) {
  const fields = [];
  for (let place = from; ; ) {
    const column = (place % size) + dx, row = Math.floor(place / size) + dy, next = row * size + column;
    if (column < 0 || row < 0 || column >= size || row >= size || walls.includes(parts(place, next))) return fields;
    fields.push(next);
    if (next === goal || holes.includes(next)) return fields;
    place = next;
  }
}

function make(draw, slots) {
  const all = draw.shuffle([...Array(size * size).keys()]);
  [marble, goal] = all;
  holes = all.slice(2, 2 + slots.holes);
  walls = [];
  for (let i = 0; i < size * 2; i++) {
    const place = draw.int(0, size * size - 1), down = draw.chance(0.5);
    if (down ? place + size < size * size : (place + 1) % size) walls.push(parts(place, place + (down ? size : 1)));
  }
  const far = new Map([[marble, 0]]);
  for (const place of far.keys()) {
    if (place === goal || holes.includes(place)) continue;
    for (const way of WAYS) {
      const end = roll(place, way).at(-1);
      if (end !== undefined && !far.has(end)) far.set(end, far.get(place) + 1);
    }
  }
  return (far.get(goal) ?? 0) >= slots.least;
}

function tilt(dx, dy) {
  if (lost || won || path.length) return;
  path = roll(marble, [dx, dy]);
  if (!path.length) return;
  path.unshift(marble);
  rolled = 0;
  last = performance.now();
  requestAnimationFrame(frame);
}

function frame(now) {
  rolled += Math.min(now - last, 100) * SPEED;
  last = now;
  if (rolled >= path.length - 1) {
    marble = path.at(-1);
    path = [];
    won = marble === goal;
    lost = holes.includes(marble);
    if (won || lost) game.over(won);
  } else {
    requestAnimationFrame(frame);
  }
  show();
}

function show() {
  const text = lost ? { en: "Fallen", zh: "掉进洞了" } : won ? { en: "Goal", zh: "到达" } : { en: "Rolling", zh: "进行中" };
  game.status(pilothouse.say(text));
  again();
}

function paint(solid, look) {
  const middle = (size - 1) / 2, at = (place, up) => [place % size - middle, up, Math.floor(place / size) - middle];
  look([0, size * 1.45, size * 0.62], [0, 0, 0.1]);
  solid("box", [0, -0.2, 0], [size + 0.3, 0.3, size + 0.3], [0.72, 0.55, 0.38]);
  for (let place = 0; place < size * size; place++) {
    const [x, y, z] = at(place, -0.04), shade = (place % size + Math.floor(place / size)) % 2 ? 0.86 : 0.8;
    solid("box", [x, y, z], [0.98, 0.06, 0.98], place === goal ? [0.3, 0.7, 0.42] : [shade, shade * 0.86, shade * 0.66]);
  }
  for (const hole of holes) {
    const [x, , z] = at(hole, 0);
    solid("ball", [x, -0.005, z], [0.66, 0.08, 0.66], [0.08, 0.08, 0.09]);
  }
  for (const wall of walls) {
    const [one, other] = wall.split("|").map(Number), a = at(one, 0.16), b = at(other, 0.16), beside = other - one === 1;
    solid("box", [(a[0] + b[0]) / 2, 0.16, (a[2] + b[2]) / 2], beside ? [0.12, 0.36, 1.1] : [1.1, 0.36, 0.12], [0.45, 0.31, 0.2]);
  }
  for (const [x, z, long, wide] of [[0, -1, size + 0.4, 0.14], [0, 1, size + 0.4, 0.14], [-1, 0, 0.14, size + 0.4], [1, 0, 0.14, size + 0.4]]) {
    solid("box", [x * (size / 2 + 0.08), 0.1, z * (size / 2 + 0.08)], [long, 0.4, wide], [0.45, 0.31, 0.2]);
  }
  const step = Math.min(Math.floor(rolled), path.length - 2), from = path.length ? path[step] : marble, to = path.length ? path[step + 1] : marble;
  const a = at(from, 0), b = at(to, 0), part = path.length ? rolled - step : 0;
  solid("ball", [a[0] + (b[0] - a[0]) * part, lost ? 0 : 0.3, a[2] + (b[2] - a[2]) * part], [0.56, 0.56, 0.56], COLOURS[1]);
}

game.arrows(tilt);
pilothouse.define({
  setup,
  state: () => ({ size, walls, holes, goal, marble, rolling: path.length > 0, lost, won }),
});
