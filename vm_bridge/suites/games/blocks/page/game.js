"use strict";

// The board is cut into pieces, so they fill it; each lies below until it is dragged up. `at` is a piece's first cell.
let columns, rows, pieces, moves, won, held, pointer, board, view, tray;

function setup(task) {
  ({ columns, rows } = task.slots);
  const draw = pilothouse.random("pieces", task);
  let shapes;
  do shapes = cut(draw, task.slots.pieces);
  while (shapes.some((cells) => cells.length < 2 || cells.length > 6));
  pieces = draw.shuffle(shapes).map(([first, ...rest]) => ({
    cells: [first, ...rest].map(([column, row]) => [column - first[0], row - first[1]]), home: first, at: null,
  }));
  moves = 0;
  won = false;
  held = pointer = null;
  game.title({ en: "Fit the pieces", zh: "拼方块" });
  board = game.canvas(paint);
  lay();
  board.element.addEventListener("pointerdown", grab);
  board.element.addEventListener("pointermove", (event) => held && show((pointer = event)));
  board.element.addEventListener("pointerup", drop);
  show();
}

// Pieces grow from random cells, each by a neighbour at a time, until nothing is free.
function cut(draw, count) {
  const owner = Array(columns * rows).fill(-1);
  draw.shuffle([...owner.keys()]).slice(0, count).forEach((place, piece) => (owner[place] = piece));
  const beside = (place) => {
    const column = place % columns, found = [place - columns, place + columns];
    if (column > 0) found.push(place - 1);
    if (column < columns - 1) found.push(place + 1);
    return found.filter((one) => one >= 0 && one < owner.length);
  };
  while (owner.includes(-1)) {
    const edge = [...owner.keys()].filter((place) => owner[place] < 0 && beside(place).some((one) => owner[one] >= 0));
    const place = draw.pick(edge);
    owner[place] = draw.pick(beside(place).map((one) => owner[one]).filter((piece) => piece >= 0));
  }
  return [...Array(count).keys()].map((piece) =>
    [...owner.keys()].filter((place) => owner[place] === piece).map((place) => [place % columns, Math.floor(place / columns)]),
  );
}

// The board above, a tray of small pieces below in as many places as there are pieces.
function lay() {
  const { clientWidth: width, clientHeight: height } = game.stage, low = Math.round(height * 0.36);
  view = game.grid(columns, rows, { height: height - low, most: 80 });
  const room = Math.floor(width / pieces.length);
  pieces.forEach((piece, i) => {
    const xs = piece.cells.map(([x]) => x), ys = piece.cells.map(([, y]) => y);
    const wide = Math.max(...xs) - Math.min(...xs) + 1, high = Math.max(...ys) - Math.min(...ys) + 1;
    const cell = Math.floor(Math.min((room - 6) / wide, (low - 10) / high, view.cell));
    piece.tray = {
      cell,
      x: Math.round(i * room + (room - wide * cell) / 2 - Math.min(...xs) * cell),
      y: Math.round(height - low + (low - high * cell) / 2 - Math.min(...ys) * cell),
    };
  });
  tray = { top: height - low, width, height: low };
}

const where = (piece) =>
  piece.at
    ? { cell: view.cell, x: view.left + piece.at[0] * view.cell, y: view.top + piece.at[1] * view.cell }
    : piece.tray;

function grab(event) {
  if (won) return;
  const x = event.clientX, y = event.clientY - board.top;
  for (const piece of pieces) {
    const place = where(piece), column = Math.floor((x - place.x) / place.cell), row = Math.floor((y - place.y) / place.cell);
    if (piece.cells.some(([dx, dy]) => dx === column && dy === row)) held = { piece, column, row };
  }
}

const covered = (piece) => piece.cells.map(([dx, dy]) => [piece.at[0] + dx, piece.at[1] + dy]);

function drop(event) {
  const cell = view.at(event), from = held;
  held = pointer = null;
  if (!from) return;
  const { piece } = from, before = piece.at;
  piece.at = cell ? [cell.column - from.column, cell.row - from.row] : null;
  if (piece.at) {
    const others = pieces.filter((other) => other !== piece && other.at).flatMap(covered);
    const free = ([column, row]) =>
      column >= 0 && row >= 0 && column < columns && row < rows && !others.some(([x, y]) => x === column && y === row);
    if (!covered(piece).every(free)) piece.at = before;
  }
  moves++;
  won = pieces.every((one) => one.at);
  if (won) game.over(true);
  show();
}

function show() {
  const placed = pieces.filter((piece) => piece.at).length;
  game.status(pilothouse.say({ en: `Placed ${placed} of ${pieces.length}`, zh: `已放置 ${placed} / ${pieces.length}` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  for (let row = 0; row < rows; row++) {
    for (let column = 0; column < columns; column++) {
      game.round(context, ...view.box(column, row, 1), 4, theme.soft, theme.line);
    }
  }
  context.fillStyle = theme.line;
  context.fillRect(0, tray.top, tray.width, 1);
  pieces.forEach((piece, i) => {
    let { cell, x, y } = where(piece);
    if (held && held.piece === piece && pointer) {
      cell = view.cell;
      x = pointer.clientX - (held.column + 0.5) * cell;
      y = pointer.clientY - board.top - (held.row + 0.5) * cell;
    }
    for (const [dx, dy] of piece.cells) {
      game.round(context, x + dx * cell + 1, y + dy * cell + 1, cell - 2, cell - 2, cell * 0.15, theme.colours[i % 8]);
    }
  });
}

pilothouse.define({
  setup,
  state: () => ({
    columns, rows, moves, won, view: view.view(), tray: { x: 4, y: board.top + tray.top + 4 },
    pieces: pieces.map((piece) => {
      const { cell, x, y } = where(piece);
      return { cells: piece.cells, home: piece.home, at: piece.at, x: x + cell / 2, y: board.top + y + cell / 2 };
    }),
  }),
});
