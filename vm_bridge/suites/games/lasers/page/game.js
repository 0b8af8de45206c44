"use strict";

// A mirror is "/" or "\\"; the beam starts at the left edge. Made by walking a beam and setting mirrors where it turns.
let columns, rows, from, target, mirrors, solved, clicks, won, board, view;

function setup(task) {
  ({ columns, rows } = task.slots);
  const draw = pilothouse.random("mirrors", task);
  while (!make(draw, task.slots));
  clicks = 0;
  won = false;
  game.title({ en: "Laser mirrors", zh: "激光镜" });
  board = game.canvas(paint);
  view = game.grid(columns + 1, rows);
  board.element.addEventListener("click", (event) => {
    const cell = view.at(event);
    if (cell && cell.column) turn(cell.row * columns + cell.column - 1);
  });
  show();
}

const inside = (column, row) => column >= 0 && row >= 0 && column < columns && row < rows;
const bent = (mirror, [dx, dy]) => (mirror === "/" ? [-dy, -dx] : [dy, dx]);
const other = (mirror) => (mirror === "/" ? "\\" : "/");

function make(draw, slots) {
  from = draw.int(0, rows - 1);
  mirrors = {};
  let column = -1, row = from, way = [1, 0];
  const path = new Set();
  for (let count = 0; count <= slots.mirrors; count++) {
    const steps = draw.int(count ? 1 : 2, 4);
    for (let i = 0; i < steps; i++) {
      column += way[0];
      row += way[1];
      if (!inside(column, row) || path.has(row * columns + column)) return false;
      path.add(row * columns + column);
    }
    if (count === slots.mirrors) break;
    const mirror = draw.pick(["/", "\\"]);
    mirrors[row * columns + column] = mirror;
    way = bent(mirror, way);
  }
  target = row * columns + column;
  solved = { ...mirrors };
  const free = draw.shuffle([...Array(columns * rows).keys()].filter((place) => !path.has(place)));
  for (const place of free.slice(0, slots.decoys)) mirrors[place] = draw.pick(["/", "\\"]);
  for (const place of Object.keys(solved)) if (draw.chance(0.75)) mirrors[place] = other(mirrors[place]);
  return !beam().hit;
}

// The fields the beam passes, and whether it ends in the target.
function beam() {
  let column = -1, row = from, way = [1, 0];
  const points = [[column, row]];
  for (let i = 0; i < 4 * columns * rows; i++) {
    column += way[0];
    row += way[1];
    points.push([column, row]);
    if (!inside(column, row)) break;
    const place = row * columns + column;
    if (place === target) return { points, hit: true };
    if (mirrors[place]) way = bent(mirrors[place], way);
  }
  return { points, hit: false };
}

function turn(place) {
  if (won || !mirrors[place]) return;
  mirrors[place] = other(mirrors[place]);
  clicks++;
  won = beam().hit;
  if (won) game.over(true);
  show();
}

function show() {
  game.status(pilothouse.say({ en: `Turns ${clicks}`, zh: `翻转 ${clicks} 次` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse, { cell } = view;
  const centre = (place) => view.centre((place % columns) + 1, Math.floor(place / columns));
  for (let place = 0; place < columns * rows; place++) {
    game.round(context, ...view.box((place % columns) + 1, Math.floor(place / columns), 1), 4, theme.soft, theme.line);
  }
  game.round(context, ...view.box(0, from, cell * 0.2), cell * 0.15, theme.ink);
  const [x, y] = centre(target);
  context.lineWidth = cell * 0.1;
  context.strokeStyle = theme.good;
  context.beginPath();
  context.arc(x, y, cell * 0.28, 0, 2 * Math.PI);
  context.stroke();
  for (const [place, mirror] of Object.entries(mirrors)) {
    const [mx, my] = centre(Number(place)), half = cell * 0.32, up = mirror === "/" ? -1 : 1;
    context.strokeStyle = theme.colours[1];
    context.lineCap = "round";
    context.lineWidth = cell * 0.12;
    context.beginPath();
    context.moveTo(mx - half, my - half * up);
    context.lineTo(mx + half, my + half * up);
    context.stroke();
  }
  context.strokeStyle = theme.bad;
  context.lineWidth = Math.max(2, cell * 0.06);
  context.lineJoin = "round";
  context.beginPath();
  for (const [column, row] of beam().points) context.lineTo(...view.centre(column + 1, row));
  context.stroke();
}

pilothouse.define({
  setup,
  state: () => ({ columns, rows, from, target, mirrors, solved, clicks, won, view: view.view() }),
});
