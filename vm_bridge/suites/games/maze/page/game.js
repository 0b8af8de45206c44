"use strict";

let columns, rows, doors, player, goal, coins, walked, won, board, view;

function setup(task) {
  ({ columns, rows } = task.slots);
  const draw = pilothouse.random("maze", task);
  dig(draw);
  const flip = draw.chance(0.5), turn = draw.chance(0.5);
  player = (flip ? columns - 1 : 0) + (turn ? (rows - 1) * columns : 0);
  goal = columns * rows - 1 - player;
  const free = [...Array(columns * rows).keys()].filter((place) => place !== player && place !== goal);
  coins = draw.shuffle(free).slice(0, task.slots.coins);
  walked = 0;
  won = false;
  game.title({ en: "Maze", zh: "迷宫" });
  board = game.canvas(paint);
  view = game.grid(columns, rows);
  show();
}

// A depth-first walk that opens doors; doors[place] holds the places one can go to.
function dig(draw) {
  doors = Array.from({ length: columns * rows }, () => []);
  const seen = new Set([0]), stack = [0];
  while (stack.length) {
    const place = stack[stack.length - 1], next = draw.shuffle(beside(place)).find((other) => !seen.has(other));
    if (next === undefined) {
      stack.pop();
      continue;
    }
    doors[place].push(next);
    doors[next].push(place);
    seen.add(next);
    stack.push(next);
  }
}

function beside(place) {
  const column = place % columns, row = Math.floor(place / columns);
  return [[column, row - 1], [column, row + 1], [column - 1, row], [column + 1, row]]
    .filter(([c, r]) => c >= 0 && r >= 0 && c < columns && r < rows)
    .map(([c, r]) => r * columns + c);
}

// On to the next turning, coin or end of the corridor.
function walk(dx, dy) {
  if (won) return;
  for (;;) {
    const next = player + dy * columns + dx;
    if (!doors[player].includes(next) || (dx && Math.floor(next / columns) !== Math.floor(player / columns))) break;
    player = next;
    walked++;
    const found = coins.indexOf(player);
    if (found >= 0) coins.splice(found, 1);
    won = player === goal && !coins.length;
    if (won || found >= 0 || player === goal || doors[player].length !== 2) break;
  }
  if (won) game.over(true);
  show();
}

function show() {
  game.status(pilothouse.say({ en: `Coins left ${coins.length}`, zh: `剩余金币 ${coins.length}` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse, { cell } = view;
  game.round(context, view.left, view.top, columns * cell, rows * cell, 4, theme.soft);
  context.strokeStyle = theme.ink;
  context.lineWidth = Math.max(2, cell * 0.07);
  context.lineCap = "round";
  context.beginPath();
  for (let place = 0; place < columns * rows; place++) {
    const column = place % columns, row = Math.floor(place / columns), [x, y] = view.box(column, row);
    const line = (open, ax, ay, bx, by) => open || (context.moveTo(ax, ay), context.lineTo(bx, by));
    line(column < columns - 1 && doors[place].includes(place + 1), x + cell, y, x + cell, y + cell);
    line(row < rows - 1 && doors[place].includes(place + columns), x, y + cell, x + cell, y + cell);
    line(column > 0, x, y, x, y + cell);
    line(row > 0, x, y, x + cell, y);
  }
  context.stroke();
  const centre = (place) => view.centre(place % columns, Math.floor(place / columns));
  game.write(context, "⚑", ...centre(goal), cell * 0.6, theme.good);
  for (const coin of coins) game.disc(context, ...centre(coin), cell * 0.18, theme.colours[2]);
  game.disc(context, ...centre(player), cell * 0.28, theme.accent);
}

game.arrows(walk);
pilothouse.define({ setup, state: () => ({ columns, rows, doors, player, goal, coins, walked, won }) });
