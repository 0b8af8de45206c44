"use strict";

let columns, rows, mines, open, flags, lost, won, board, view;

function setup(task) {
  ({ columns, rows } = task.slots);
  const draw = pilothouse.random("mines", task);
  mines = new Set(draw.shuffle([...Array(columns * rows).keys()]).slice(0, task.slots.mines));
  open = new Set();
  flags = new Set();
  lost = won = false;
  game.title({ en: "Minesweeper", zh: "扫雷" });
  board = game.canvas(paint);
  view = game.grid(columns, rows, { most: 60 });
  board.element.addEventListener("click", (event) => touch(event, reveal));
  board.element.addEventListener("contextmenu", (event) => touch(event, flag));
  // One field without mines around it is open at the start, so that no one has to guess.
  const calm = [...Array(columns * rows).keys()].filter((place) => !mines.has(place));
  reveal(calm.find((place) => number(place) === 0) ?? calm[0]);
}

function around(place) {
  const column = place % columns, row = Math.floor(place / columns), found = [];
  for (let r = Math.max(0, row - 1); r <= Math.min(rows - 1, row + 1); r++) {
    for (let c = Math.max(0, column - 1); c <= Math.min(columns - 1, column + 1); c++) {
      if (r !== row || c !== column) found.push(r * columns + c);
    }
  }
  return found;
}

const number = (place) => around(place).filter((other) => mines.has(other)).length;

function touch(event, act) {
  event.preventDefault();
  const cell = view.at(event);
  if (cell && !lost && !won) act(cell.row * columns + cell.column);
}

function flag(place) {
  if (open.has(place)) return;
  if (!flags.delete(place)) flags.add(place);
  show();
}

function reveal(place) {
  if (flags.has(place)) return;
  if (mines.has(place)) {
    lost = true;
  } else {
    const queue = [place];
    for (const one of queue) {
      if (open.has(one)) continue;
      open.add(one);
      if (number(one) === 0) queue.push(...around(one).filter((other) => !open.has(other)));
    }
    won = open.size === columns * rows - mines.size;
  }
  if (lost || won) game.over(won);
  show();
}

function show() {
  const left = columns * rows - mines.size - open.size;
  game.status(pilothouse.say({ en: `${left} to open · ${mines.size} mines`, zh: `剩余 ${left} 格 · ${mines.size} 颗雷` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  for (let place = 0; place < columns * rows; place++) {
    const column = place % columns, row = Math.floor(place / columns), [x, y] = view.centre(column, row);
    const bang = lost && mines.has(place);
    game.round(context, ...view.box(column, row, 1.5), 4, bang ? theme.bad : open.has(place) ? theme.soft : theme.line);
    if (bang) game.disc(context, x, y, view.cell * 0.22, theme.paper);
    else if (flags.has(place)) game.write(context, "⚑", x, y, view.cell * 0.5, theme.bad);
    else if (open.has(place) && number(place)) {
      game.write(context, number(place), x, y, view.cell * 0.5, theme.dark ? theme.ink : theme.colours[(number(place) + 6) % 8], 700);
    }
  }
}

pilothouse.define({
  setup,
  state: () => ({ columns, rows, mines: [...mines], open: [...open], flags: [...flags], lost, won, view: view.view() }),
});
