"use strict";

let tiles, moves, won, board, view;

function setup(task) {
  const draw = pilothouse.random("tiles", task);
  do {
    tiles = [1, 2, 3, 4, 5, 6, 7, 8, 0];
    let last = -1;
    for (let i = 0; i < task.slots.shuffles; i++) {
      const gap = tiles.indexOf(0), from = draw.pick(beside(gap).filter((place) => place !== last));
      [tiles[gap], tiles[from]] = [tiles[from], 0];
      last = gap;
    }
  } while (ordered());
  moves = 0;
  won = false;
  game.title({ en: "Sliding tiles", zh: "数字华容道" });
  board = game.canvas(paint);
  view = game.grid(3, 3, { most: 150 });
  board.element.addEventListener("click", (event) => {
    const cell = view.at(event);
    if (cell) slide(cell.row * 3 + cell.column);
  });
  show();
}

function beside(place) {
  const column = place % 3, row = Math.floor(place / 3);
  return [[column, row - 1], [column, row + 1], [column - 1, row], [column + 1, row]]
    .filter(([c, r]) => c >= 0 && r >= 0 && c < 3 && r < 3)
    .map(([c, r]) => r * 3 + c);
}

const ordered = () => tiles.every((tile, i) => tile === (i + 1) % 9);

function slide(place) {
  const gap = tiles.indexOf(0);
  if (won || !beside(gap).includes(place)) return;
  [tiles[gap], tiles[place]] = [tiles[place], 0];
  moves++;
  won = ordered();
  if (won) game.over(true);
  show();
}

function show() {
  game.status(pilothouse.say({ en: `Moves ${moves}`, zh: `步数 ${moves}` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  game.round(context, view.left - 4, view.top - 4, view.cell * 3 + 8, view.cell * 3 + 8, 10, theme.soft, theme.line);
  tiles.forEach((tile, i) => {
    if (!tile) return;
    const [x, y, width, height] = view.box(i % 3, Math.floor(i / 3), 3);
    const fill = tile === i + 1 ? theme.accent : theme.colours[1];
    game.round(context, x, y, width, height, 8, fill);
    game.write(context, tile, x + width / 2, y + height / 2, width * 0.45, game.upon(fill), 700);
  });
}

pilothouse.define({ setup, state: () => ({ tiles, moves, won, view: view.view() }) });
