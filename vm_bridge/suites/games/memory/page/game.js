"use strict";

const SIGNS = ["★", "●", "▲", "■", "♥", "♣", "♠", "♦", "☀", "☂"];
let cards, found, turned, tries, won, columns, rows, board, view;

function setup(task) {
  const { pairs } = task.slots, draw = pilothouse.random("cards", task);
  const signs = draw.shuffle([...SIGNS.keys()]).slice(0, pairs);
  cards = draw.shuffle([...signs, ...signs]);
  columns = { 3: 3, 6: 4, 8: 4 }[pairs];
  rows = cards.length / columns;
  found = [];
  turned = [];
  tries = 0;
  won = false;
  game.title({ en: "Pairs", zh: "翻牌配对" });
  board = game.canvas(paint);
  view = game.grid(columns, rows, { most: 120 });
  board.element.addEventListener("click", (event) => {
    const cell = view.at(event);
    if (cell) turn(cell.row * columns + cell.column);
  });
  show();
}

function turn(place) {
  if (won || found.includes(place)) return;
  if (turned.length === 2) turned = [];
  if (turned.includes(place)) return show();
  turned.push(place);
  if (turned.length === 2) {
    tries++;
    if (cards[turned[0]] === cards[turned[1]]) {
      found.push(...turned);
      turned = [];
    }
  }
  won = found.length === cards.length;
  if (won) game.over(true);
  show();
}

function show() {
  const pairs = found.length / 2, all = cards.length / 2;
  game.status(pilothouse.say({ en: `Pairs ${pairs} of ${all} · tries ${tries}`, zh: `已找到 ${pairs} / ${all} 对 · 尝试 ${tries} 次` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  cards.forEach((sign, place) => {
    const column = place % columns, row = Math.floor(place / columns), up = found.includes(place) || turned.includes(place);
    const back = up ? theme.soft : theme.accent;
    game.round(context, ...view.box(column, row, 4), 8, back, found.includes(place) ? theme.good : theme.line);
    if (up) game.write(context, SIGNS[sign], ...view.centre(column, row), view.cell * 0.45, theme.colours[sign % 8]);
  });
}

pilothouse.define({ setup, state: () => ({ cards, columns, found, turned, tries, won, view: view.view() }) });
