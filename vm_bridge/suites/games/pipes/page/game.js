"use strict";

// A piece is four bits: up 1, right 2, down 4, left 8. The pieces of a spanning tree, each turned a few times.
const WAYS = [[1, 0, -1], [2, 1, 0], [4, 0, 1], [8, -1, 0]];
let columns, rows, pieces, solved, source, clicks, won, board, view;

const against = (bit) => (bit > 2 ? bit >> 2 : bit << 2);
const turned = (piece) => ((piece << 1) | (piece >> 3)) & 15;

function setup(task) {
  ({ columns, rows } = task.slots);
  const draw = pilothouse.random("pipes", task);
  source = draw.int(0, columns * rows - 1);
  grow(draw);
  do {
    pieces = solved.map((piece) => {
      for (let times = draw.chance(0.35) ? 0 : draw.int(1, 3); times; times--) piece = turned(piece);
      return piece;
    });
  } while (wet().size > (columns * rows) / 2);
  clicks = 0;
  won = false;
  game.title({ en: "Pipes", zh: "接水管" });
  board = game.canvas(paint);
  view = game.grid(columns, rows);
  board.element.addEventListener("click", (event) => {
    const cell = view.at(event);
    if (cell) turn(cell.row * columns + cell.column);
  });
  show();
}

function next(place, dx, dy) {
  const column = (place % columns) + dx, row = Math.floor(place / columns) + dy;
  return column >= 0 && row >= 0 && column < columns && row < rows ? row * columns + column : -1;
}

function grow(draw) {
  solved = Array(columns * rows).fill(0);
  const edge = [source], seen = new Set(edge);
  while (seen.size < columns * rows) {
    const place = draw.pick(edge);
    const way = draw.shuffle(WAYS).find(([, dx, dy]) => next(place, dx, dy) >= 0 && !seen.has(next(place, dx, dy)));
    if (!way) {
      edge.splice(edge.indexOf(place), 1);
      continue;
    }
    const [bit, dx, dy] = way, to = next(place, dx, dy);
    solved[place] |= bit;
    solved[to] |= against(bit);
    seen.add(to);
    edge.push(to);
  }
}

function wet() {
  const reached = new Set([source]);
  for (const place of reached) {
    for (const [bit, dx, dy] of WAYS) {
      const to = next(place, dx, dy);
      if (pieces[place] & bit && to >= 0 && pieces[to] & against(bit)) reached.add(to);
    }
  }
  return reached;
}

function turn(place) {
  if (won) return;
  pieces[place] = turned(pieces[place]);
  clicks++;
  won = wet().size === pieces.length;
  if (won) game.over(true);
  show();
}

function show() {
  game.status(pilothouse.say({ en: `Filled ${wet().size} of ${pieces.length}`, zh: `已通水 ${wet().size} / ${pieces.length}` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse, reached = wet();
  context.lineCap = "round";
  const at = (place) => [place % columns, Math.floor(place / columns)];
  pieces.forEach((_, place) => game.round(context, ...view.box(...at(place), 1.5), 6, theme.soft, theme.line));
  context.lineWidth = view.cell * 0.2;
  pieces.forEach((piece, place) => {
    const [x, y] = view.centre(...at(place));
    context.strokeStyle = reached.has(place) ? theme.colours[1] : theme.colours[7];
    context.beginPath();
    for (const [bit, dx, dy] of WAYS) {
      if (!(piece & bit)) continue;
      context.moveTo(x, y);
      context.lineTo(x + dx * view.cell * 0.4, y + dy * view.cell * 0.4);
    }
    context.stroke();
    if (place === source) game.disc(context, x, y, view.cell * 0.2, theme.colours[0]);
  });
}

pilothouse.define({
  setup,
  state: () => ({ columns, rows, pieces, solved, source, clicks, won, view: view.view() }),
});
