"use strict";

const SIZE = 4;
let cells, score, draw, board, view, won, stuck;

function setup(task) {
  draw = pilothouse.random("tiles", task);
  cells = Array(SIZE * SIZE).fill(0);
  score = 0;
  won = stuck = false;
  game.title({ en: "2048", zh: "2048" });
  board = game.canvas(paint);
  view = game.grid(SIZE, SIZE, { most: 120 });
  add();
  add();
  settleBoard();
}

function add() {
  const empty = cells.flatMap((value, index) => (value ? [] : [index]));
  cells[draw.pick(empty)] = draw.chance(0.1) ? 4 : 2;
}

// The cells of row or column `line` in the order in which they slide.
function lane(line, dx, dy) {
  const order = [...Array(SIZE).keys()];
  if (dx > 0 || dy > 0) order.reverse();
  return order.map((step) => (dx ? line * SIZE + step : step * SIZE + line));
}

function slide(dx, dy) {
  let moved = false;
  for (let line = 0; line < SIZE; line++) {
    const places = lane(line, dx, dy);
    const before = places.map((place) => cells[place]).filter(Boolean);
    const after = [];
    for (let i = 0; i < before.length; i++) {
      if (before[i] === before[i + 1]) {
        after.push(2 * before[i]);
        score += 2 * before[i++];
      } else {
        after.push(before[i]);
      }
    }
    places.forEach((place, i) => {
      moved ||= cells[place] !== (after[i] || 0);
      cells[place] = after[i] || 0;
    });
  }
  return moved;
}

function settleBoard() {
  const next = (a, b) => cells[a] === cells[b];
  won ||= Math.max(...cells) >= TASK.slots.goal;
  stuck = cells.every((value, i) => value && !(i % SIZE < 3 && next(i, i + 1)) && !(i < 12 && next(i, i + SIZE)));
  game.status(pilothouse.say({ en: `Score ${score} · goal ${TASK.slots.goal}`, zh: `得分 ${score} · 目标 ${TASK.slots.goal}` }));
  if (won || stuck) game.over(won);
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  game.round(context, view.left - 4, view.top - 4, view.cell * 4 + 8, view.cell * 4 + 8, 10, theme.line);
  cells.forEach((value, i) => {
    const [x, y, width, height] = view.box(i % SIZE, Math.floor(i / SIZE), 4);
    const fill = value ? theme.colours[(Math.log2(value) - 1) % 8] : theme.soft;
    game.round(context, x, y, width, height, 8, fill);
    if (value) game.write(context, value, x + width / 2, y + height / 2, width * (value > 99 ? 0.34 : 0.42), game.upon(fill), 700);
  });
}

game.arrows((dx, dy) => {
  if (won || stuck || !slide(dx, dy)) return;
  add();
  settleBoard();
});

function describe() {
  return game.words(game.table(game.rowsOf(cells, SIZE).map((row) => row.map((value) => value || "."))));
}

pilothouse.define({ setup, describe, state: () => ({ cells, score, won, stuck, view: view.view() }) });
