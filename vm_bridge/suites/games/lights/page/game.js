"use strict";

let size, lit, due, clicks, won, board, view;

function setup(task) {
  ({ size } = task.slots);
  const draw = pilothouse.random("lamps", task);
  lit = Array(size * size).fill(false);
  due = draw.shuffle([...lit.keys()]).slice(0, task.slots.presses);
  due.forEach(flip);
  clicks = 0;
  won = false;
  game.title({ en: "Lights out", zh: "关灯" });
  board = game.canvas(paint);
  view = game.grid(size, size, { most: 120 });
  board.element.addEventListener("click", (event) => {
    const cell = view.at(event);
    if (cell) press(cell.row * size + cell.column);
  });
  show();
}

function flip(place) {
  const column = place % size, row = Math.floor(place / size);
  for (const [c, r] of [[column, row], [column - 1, row], [column + 1, row], [column, row - 1], [column, row + 1]]) {
    if (c >= 0 && r >= 0 && c < size && r < size) lit[r * size + c] = !lit[r * size + c];
  }
}

// `due` are the presses that would finish; a press is its own undoing.
function press(place) {
  if (won) return;
  flip(place);
  clicks++;
  due = due.includes(place) ? due.filter((one) => one !== place) : [...due, place];
  won = !lit.includes(true);
  if (won) game.over(true);
  show();
}

function show() {
  const count = lit.filter(Boolean).length;
  game.status(pilothouse.say({ en: `Lit ${count} · clicks ${clicks}`, zh: `亮着 ${count} · 点击 ${clicks}` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  lit.forEach((on, place) => {
    const column = place % size, row = Math.floor(place / size);
    game.round(context, ...view.box(column, row, 4), view.cell * 0.18, on ? theme.colours[2] : theme.soft, theme.line);
    if (on) game.disc(context, ...view.centre(column, row), view.cell * 0.2, "#fff8dd");
  });
}

pilothouse.define({ setup, state: () => ({ size, lit, due, clicks, won, view: view.view() }) });
