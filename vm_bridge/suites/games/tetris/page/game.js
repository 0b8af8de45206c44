"use strict";

const COLUMNS = 8, ROWS = 14, FALL_MS = 620;
// The cells of each piece as it first appears, in a square of `size`.
const PIECES = [
  { size: 4, cells: [[0, 1], [1, 1], [2, 1], [3, 1]] }, { size: 2, cells: [[0, 0], [1, 0], [0, 1], [1, 1]] },
  { size: 3, cells: [[1, 0], [0, 1], [1, 1], [2, 1]] }, { size: 3, cells: [[0, 0], [0, 1], [1, 1], [2, 1]] },
  { size: 3, cells: [[2, 0], [0, 1], [1, 1], [2, 1]] }, { size: 3, cells: [[1, 0], [2, 0], [0, 1], [1, 1]] },
  { size: 3, cells: [[0, 0], [1, 0], [1, 1], [2, 1]] },
];
let heap, kind, cells, x, y, next, lines, lost, won, bag, draw, board, view, clock;

function setup(task) {
  draw = pilothouse.random("pieces", task);
  heap = Array.from({ length: ROWS }, () => Array(COLUMNS).fill(0));
  bag = [];
  lines = 0;
  lost = won = false;
  clearInterval(clock);
  clock = 0;
  next = drawn();
  game.title({ en: "Falling blocks", zh: "俄罗斯方块" });
  board = game.canvas(paint);
  view = game.grid(COLUMNS, ROWS);
  appear();
  show();
}

function drawn() {
  if (!bag.length) bag = draw.shuffle([...PIECES.keys()]);
  return bag.pop();
}

function appear() {
  kind = next;
  next = drawn();
  cells = PIECES[kind].cells;
  x = Math.floor((COLUMNS - PIECES[kind].size) / 2);
  y = 0;
  lost = !fits(cells, x, y);
}

const fits = (shape, left, top) => shape.every(([dx, dy]) => heap[top + dy]?.[left + dx] === 0);

function turn() {
  const turned = cells.map(([dx, dy]) => [PIECES[kind].size - 1 - dy, dx]);
  const kick = [0, -1, 1, -2, 2].find((by) => fits(turned, x + by, y));
  if (kick === undefined) return;
  cells = turned;
  x += kick;
}

function shift(by) {
  if (fits(cells, x + by, y)) x += by;
}

function fall() {
  if (fits(cells, x, y + 1)) y++;
  else land();
}

function land() {
  for (const [dx, dy] of cells) heap[y + dy][x + dx] = kind + 1;
  const left = heap.filter((row) => row.includes(0));
  lines += ROWS - left.length;
  heap = [...Array.from({ length: ROWS - left.length }, () => Array(COLUMNS).fill(0)), ...left];
  won = lines >= TASK.slots.goal;
  if (!won) appear();
  if (won || lost) {
    clearInterval(clock);
    game.over(won);
  }
}

function show() {
  game.status(pilothouse.say({ en: `Lines ${lines} of ${TASK.slots.goal}`, zh: `行数 ${lines} / ${TASK.slots.goal}` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  game.round(context, view.left - 3, view.top - 3, COLUMNS * view.cell + 6, ROWS * view.cell + 6, 6, theme.soft, theme.line);
  const cell = (column, row, what) =>
    game.round(context, ...view.box(column, row, 1), view.cell * 0.15, theme.colours[(what - 1) % 8]);
  heap.forEach((row, r) => row.forEach((what, c) => what && cell(c, r, what)));
  if (!won && !lost) for (const [dx, dy] of cells) cell(x + dx, y + dy, kind + 1);
  // The piece to come, to the right of the well.
  for (const [dx, dy] of PIECES[next].cells) {
    const size = view.cell * 0.6, left = view.left + (COLUMNS + 0.8) * view.cell;
    game.round(context, left + dx * size, view.top + dy * size, size - 2, size - 2, 3, theme.colours[next]);
  }
}

function describe() {
  const legend = { en: "# landed, @ falling, . empty", zh: "# 已落下，@ 正在下落，. 空" };
  const ahead = pilothouse.say({ en: "Next piece:", zh: "下一块：" });
  const falling = won || lost ? [] : cells.map(([dx, dy]) => `${x + dx},${y + dy}`);
  const well = heap.map((row, r) => row.map((what, c) => (falling.includes(`${c},${r}`) ? "@" : what ? "#" : ".")));
  const shape = PIECES[next].cells.map(String);
  const rows = [0, 1].map((dy) => [0, 1, 2, 3].map((dx) => (shape.includes(`${dx},${dy}`) ? "@" : ".")).join(" "));
  return game.words(pilothouse.say(legend), game.table(well), ahead, ...rows);
}

const KEYS = { ArrowLeft: () => shift(-1), ArrowRight: () => shift(1), ArrowUp: turn, ArrowDown: fall };
addEventListener("keydown", (event) => {
  const act = event.key === " " ? () => { while (fits(cells, x, y + 1)) y++; land(); } : KEYS[event.key];
  if (!act || won || lost) return;
  event.preventDefault();
  if (!clock) clock = setInterval(() => { fall(); show(); }, FALL_MS);
  act();
  show();
});

pilothouse.define({
  setup,
  describe,
  state: () => ({ heap, kind, size: PIECES[kind].size, cells, x, y, ahead: PIECES[next], lines, lost, won, running: clock !== 0 }),
});
