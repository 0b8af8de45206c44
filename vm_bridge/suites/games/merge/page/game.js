"use strict";

const SIZE = 4;
let pieces, best, moves, won, held, pointer, draw, board, view, button;

function setup(task) {
  draw = pilothouse.random("pieces", task);
  pieces = Array(SIZE * SIZE).fill(0);
  for (const place of draw.shuffle([...pieces.keys()]).slice(0, draw.int(2, 3))) pieces[place] = 1;
  best = 1;
  moves = 0;
  won = false;
  held = pointer = null;
  game.title({ en: "Merge", zh: "合成" });
  board = game.canvas(paint);
  const { clientWidth: width, clientHeight: height } = game.stage, low = Math.round(height * 0.16);
  view = game.grid(SIZE, SIZE, { height: height - low });
  button = { x: Math.round(width / 2) - 60, y: height - low + 2, width: 120, height: low - 8 };
  board.element.addEventListener("pointerdown", grab);
  board.element.addEventListener("pointermove", (event) => held !== null && show((pointer = event)));
  board.element.addEventListener("pointerup", drop);
  show();
}

function onButton(event) {
  const x = event.clientX - button.x, y = event.clientY - board.top - button.y;
  return x >= 0 && y >= 0 && x < button.width && y < button.height;
}

function grab(event) {
  const cell = view.at(event);
  if (won) return;
  if (onButton(event)) add();
  else if (cell && pieces[cell.row * SIZE + cell.column]) held = cell.row * SIZE + cell.column;
}

function add() {
  const empty = [...pieces.keys()].filter((place) => !pieces[place]);
  if (!empty.length) return;
  pieces[draw.pick(empty)] = 1;
  moves++;
  show();
}

function drop(event) {
  const cell = view.at(event), from = held;
  held = pointer = null;
  if (from === null) return;
  const to = cell ? cell.row * SIZE + cell.column : from;
  if (to !== from && (!pieces[to] || pieces[to] === pieces[from])) {
    pieces[to] = pieces[to] ? pieces[to] + 1 : pieces[from];
    pieces[from] = 0;
    moves++;
    best = Math.max(best, pieces[to]);
    won = best >= TASK.slots.goal;
    if (won) game.over(true);
  }
  show();
}

function show() {
  game.status(pilothouse.say({ en: `Best ${best} · goal ${TASK.slots.goal}`, zh: `最高 ${best} · 目标 ${TASK.slots.goal}` }));
  board.again();
}

function piece(context, kind, x, y) {
  const fill = pilothouse.theme.colours[kind - 1];
  game.disc(context, x, y, view.cell * (0.24 + 0.03 * kind), fill);
  game.write(context, kind, x, y, view.cell * 0.34, game.upon(fill), 700);
}

function paint(context) {
  const { theme } = pilothouse;
  pieces.forEach((kind, place) => {
    const column = place % SIZE, row = Math.floor(place / SIZE);
    game.round(context, ...view.box(column, row, 2), 8, theme.soft, theme.line);
    if (kind && !(place === held && pointer)) piece(context, kind, ...view.centre(column, row));
  });
  game.round(context, button.x, button.y, button.width, button.height, 10, theme.accent);
  const size = Math.min(18, button.height * 0.55);
  game.write(context, pilothouse.say({ en: "New piece", zh: "新图块" }), button.x + 60, button.y + button.height / 2, size, theme.onAccent);
  if (held !== null && pointer) piece(context, pieces[held], pointer.clientX, pointer.clientY - board.top);
}

pilothouse.define({
  setup,
  state: () => ({
    size: SIZE, pieces, best, moves, won, view: view.view(),
    button: { x: button.x + 60, y: Math.round(board.top + button.y + button.height / 2) },
  }),
});
