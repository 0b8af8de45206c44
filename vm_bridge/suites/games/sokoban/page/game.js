"use strict";

// Rooms are made backwards: boxes stand on their targets and are pulled away, so that pushing them back is possible.
let columns, rows, walls, targets, boxes, player, start, pushes, won, board, view;

function setup(task) {
  ({ columns, rows } = task.slots);
  const draw = pilothouse.random("room", task);
  do make(draw, task.slots.boxes);
  while (boxes.some((box, i) => targets.includes(box) || apart(box, targets[i]) < 2));
  start = { boxes: boxes.slice(), player };
  game.title({ en: "Sokoban", zh: "推箱子" });
  board = game.canvas(paint);
  view = game.grid(columns, rows);
  again();
}

const step = (dx, dy) => dy * columns + dx;
const apart = (one, other) =>
  Math.abs((one % columns) - (other % columns)) + Math.abs(Math.floor(one / columns) - Math.floor(other / columns));
const WAYS = [[0, -1], [0, 1], [-1, 0], [1, 0]];

function make(draw, count) {
  walls = new Set();
  for (let place = 0; place < columns * rows; place++) {
    const column = place % columns, row = Math.floor(place / columns);
    if (column === 0 || row === 0 || column === columns - 1 || row === rows - 1) walls.add(place);
  }
  const inner = [...Array(columns * rows).keys()].filter((place) => !walls.has(place));
  for (const place of draw.shuffle(inner).slice(0, Math.floor(inner.length / 9))) walls.add(place);
  const floor = draw.shuffle(inner.filter((place) => !walls.has(place)));
  targets = floor.slice(0, count).sort((a, b) => a - b);
  boxes = targets.slice();
  player = floor[count];
  for (let i = 0; i < 60 * count; i++) {
    const [dx, dy] = draw.pick(WAYS);
    const to = player + step(dx, dy), behind = boxes.indexOf(player - step(dx, dy));
    if (walls.has(to) || boxes.includes(to)) continue;
    if (behind >= 0 && draw.chance(0.7)) boxes[behind] = player;
    player = to;
  }
}

function again() {
  boxes = start.boxes.slice();
  player = start.player;
  pushes = 0;
  won = false;
  show();
}

function walk(dx, dy) {
  if (won) return;
  const to = player + step(dx, dy), pushed = boxes.indexOf(to);
  if (walls.has(to)) return;
  if (pushed >= 0) {
    const beyond = to + step(dx, dy);
    if (walls.has(beyond) || boxes.includes(beyond)) return;
    boxes[pushed] = beyond;
    pushes++;
  }
  player = to;
  won = boxes.every((box) => targets.includes(box));
  if (won) game.over(true);
  show();
}

function show() {
  const done = boxes.filter((box) => targets.includes(box)).length;
  game.status(pilothouse.say({ en: `Stored ${done} of ${boxes.length}`, zh: `已归位 ${done} / ${boxes.length}` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  const place = (index) => [index % columns, Math.floor(index / columns)];
  for (let index = 0; index < columns * rows; index++) {
    const wall = walls.has(index);
    game.round(context, ...view.box(...place(index), wall ? 0.5 : 0), wall ? 5 : 0, wall ? theme.line : theme.soft);
  }
  for (const target of targets) {
    const [x, y] = view.centre(...place(target));
    game.disc(context, x, y, view.cell * 0.2, theme.accent);
  }
  for (const box of boxes) {
    const stored = targets.includes(box);
    game.round(context, ...view.box(...place(box), view.cell * 0.1), view.cell * 0.12, stored ? theme.good : theme.colours[7]);
    game.round(context, ...view.box(...place(box), view.cell * 0.25), view.cell * 0.06, null, "#ffffff88");
  }
  const [x, y] = view.centre(...place(player));
  game.disc(context, x, y, view.cell * 0.34, theme.colours[1]);
  game.disc(context, x, y - view.cell * 0.08, view.cell * 0.14, "#fff");
}

function describe() {
  const legend = {
    en: "# wall, . floor, @ you, $ box, o target, * box on a target, + you on a target",
    zh: "# 墙，. 地面，@ 你，$ 箱子，o 目标，* 目标上的箱子，+ 你在目标上",
  };
  const cells = [...Array(columns * rows).keys()].map((place) => {
    const target = targets.includes(place);
    if (walls.has(place)) return "#";
    if (boxes.includes(place)) return target ? "*" : "$";
    if (place === player) return target ? "+" : "@";
    return target ? "o" : ".";
  });
  return game.words(pilothouse.say(legend), game.table(game.rowsOf(cells, columns)));
}

game.arrows(walk);
addEventListener("keydown", (event) => event.key === "r" && !won && again());

pilothouse.define({
  setup,
  describe,
  state: () => ({ columns, rows, walls: [...walls], targets, boxes, player, pushes, won, view: view.view() }),
});
