"use strict";

const SIZE = 7, FALL_MS = 100;
let gems, cleared, moves, picked, held, busy, kinds, draw, board, view;

function setup(task) {
  ({ kinds } = task.slots);
  draw = pilothouse.random("gems", task);
  do {
    gems = Array.from({ length: SIZE * SIZE }, () => draw.int(0, kinds - 1));
  } while (lines(gems).size || !hasMove());
  cleared = 0;
  moves = task.slots.moves;
  picked = held = null;
  busy = false;
  game.title({ en: "Match three", zh: "三消" });
  board = game.canvas(paint);
  view = game.grid(SIZE, SIZE);
  board.element.addEventListener("pointerdown", (event) => (held = view.at(event)));
  board.element.addEventListener("pointerup", drop);
  show();
}

// The places that stand in lines of three or more.
function lines(field) {
  const found = new Set();
  for (let place = 0; place < SIZE * SIZE; place++) {
    const column = place % SIZE, row = Math.floor(place / SIZE);
    for (const [step, room] of [[1, column < SIZE - 2], [SIZE, row < SIZE - 2]]) {
      const three = [place, place + step, place + 2 * step];
      if (room && field[place] >= 0 && three.every((one) => field[one] === field[place])) three.forEach((one) => found.add(one));
    }
  }
  return found;
}

function swapped(one, other) {
  const after = gems.slice();
  [after[one], after[other]] = [after[other], after[one]];
  return after;
}

function hasMove() {
  return gems.some((_, place) => {
    const right = place % SIZE < SIZE - 1 && lines(swapped(place, place + 1)).size;
    return right || (place + SIZE < SIZE * SIZE && lines(swapped(place, place + SIZE)).size);
  });
}

const over = () => cleared >= TASK.slots.goal || (moves === 0 && !busy);
const beside = (one, other) => Math.abs(one.column - other.column) + Math.abs(one.row - other.row) === 1;

function drop(event) {
  const cell = view.at(event), from = held;
  held = null;
  if (!cell || !from || busy || over()) return;
  if (beside(from, cell)) swap(from, cell);
  else if (picked && beside(picked, cell)) swap(picked, cell);
  else picked = cell;
  show();
}

function swap(one, other) {
  const after = swapped(one.row * SIZE + one.column, other.row * SIZE + other.column);
  picked = null;
  if (!lines(after).size) return;
  gems = after;
  moves--;
  busy = true;
  setTimeout(clear, FALL_MS);
}

function clear() {
  const found = lines(gems);
  cleared += found.size;
  for (const place of found) gems[place] = -1;
  show();
  setTimeout(refill, FALL_MS);
}

function refill() {
  for (let column = 0; column < SIZE; column++) {
    const left = [];
    for (let row = 0; row < SIZE; row++) if (gems[row * SIZE + column] >= 0) left.push(gems[row * SIZE + column]);
    while (left.length < SIZE) left.unshift(draw.int(0, kinds - 1));
    left.forEach((gem, row) => (gems[row * SIZE + column] = gem));
  }
  if (lines(gems).size) {
    setTimeout(clear, FALL_MS);
  } else {
    busy = false;
    while (!hasMove() || lines(gems).size) gems = draw.shuffle(gems);
    if (over()) game.over(cleared >= TASK.slots.goal);
  }
  show();
}

function show() {
  const { goal } = TASK.slots;
  game.status(pilothouse.say({ en: `Cleared ${cleared} of ${goal} · ${moves} swaps left`, zh: `已消 ${cleared} / ${goal} · 剩余 ${moves} 步` }));
  board.again();
}

// Each kind has a shape of its own beside its colour.
function gem(context, kind, x, y, radius) {
  const corners = [0, 4, 3, 6, 5, 8][kind];
  context.beginPath();
  if (!corners) context.arc(x, y, radius * 0.9, 0, 2 * Math.PI);
  for (let i = 0; i < corners; i++) {
    const angle = (2 * Math.PI * i) / corners - Math.PI / 2, far = corners === 8 && i % 2 ? radius * 0.55 : radius;
    context.lineTo(x + far * Math.cos(angle), y + far * Math.sin(angle));
  }
  context.closePath();
  context.fillStyle = pilothouse.theme.colours[kind];
  context.fill();
}

function paint(context) {
  const { theme } = pilothouse;
  gems.forEach((kind, place) => {
    const column = place % SIZE, row = Math.floor(place / SIZE);
    const chosen = picked && picked.column === column && picked.row === row;
    game.round(context, ...view.box(column, row, 1.5), 6, theme.soft, chosen ? theme.ink : theme.line);
    if (kind >= 0) gem(context, kind, ...view.centre(column, row), view.cell * 0.34);
  });
}

function describe() {
  const legend = {
    en: "C circle, D diamond, T triangle, H hexagon, P pentagon, S star, . empty; [] is picked",
    zh: "C 圆形，D 菱形，T 三角形，H 六边形，P 五边形，S 星形，. 空；[] 为已选中",
  };
  const cells = gems.map((kind, place) => {
    const letter = kind < 0 ? "." : "CDTHPS"[kind];
    return picked && place === picked.row * SIZE + picked.column ? `[${letter}]` : letter;
  });
  const { left, top, cell } = view.view(), middles = (start) => [...Array(SIZE).keys()].map((i) => Math.round(start + (i + 0.5) * cell)).join(", ");
  const places = { en: `Centres of columns at x: ${middles(left)}\nCentres of rows at y: ${middles(top)}`, zh: `各列中心的 x：${middles(left)}\n各行中心的 y：${middles(top)}` };
  return game.words(pilothouse.say(legend), game.table(game.rowsOf(cells, SIZE)), pilothouse.say(places));
}

pilothouse.define({ setup, describe, state: () => ({ size: SIZE, gems, cleared, moves, picked, busy, view: view.view() }) });
