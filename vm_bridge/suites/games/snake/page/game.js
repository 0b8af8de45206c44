"use strict";

const TICK_MS = 160;
let columns, rows, snake, heading, turned, apple, walls, eaten, dead, won, draw, board, view, clock;

function setup(task) {
  ({ columns, rows } = task.slots);
  draw = pilothouse.random("board", task);
  const middle = Math.floor(rows / 2);
  snake = [2, 1, 0].map((column) => ({ column: column + 1, row: middle }));
  heading = turned = [1, 0];
  eaten = 0;
  dead = won = false;
  walls = [];
  while (walls.length < task.slots.walls) {
    const wall = { column: draw.int(1, columns - 2), row: draw.int(1, rows - 2) };
    const lonely = walls.every((other) => Math.abs(other.column - wall.column) + Math.abs(other.row - wall.row) > 2);
    if (lonely && Math.abs(wall.row - middle) > 1) walls.push(wall);
  }
  clearInterval(clock);
  clock = 0;
  game.title({ en: "Snake", zh: "贪吃蛇" });
  board = game.canvas(paint);
  view = game.grid(columns, rows);
  feed();
  show();
}

const same = (one, other) => one.column === other.column && one.row === other.row;
const taken = (cell) => snake.some((part) => same(part, cell)) || walls.some((wall) => same(wall, cell));

function feed() {
  do {
    apple = { column: draw.int(0, columns - 1), row: draw.int(0, rows - 1) };
  } while (taken(apple));
}

function tick() {
  heading = turned;
  const head = { column: snake[0].column + heading[0], row: snake[0].row + heading[1] };
  const grows = same(head, apple);
  const tail = grows ? null : snake.pop();
  if (head.column < 0 || head.row < 0 || head.column >= columns || head.row >= rows || taken(head)) {
    if (tail) snake.push(tail);
    dead = true;
  } else {
    snake.unshift(head);
    if (grows) {
      eaten++;
      won = eaten >= TASK.slots.goal;
      if (!won) feed();
    }
  }
  if (dead || won) {
    clearInterval(clock);
    game.over(won);
  }
  show();
}

function show() {
  game.status(pilothouse.say({ en: `Apples ${eaten} of ${TASK.slots.goal}`, zh: `苹果 ${eaten} / ${TASK.slots.goal}` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  game.round(context, view.left - 3, view.top - 3, columns * view.cell + 6, rows * view.cell + 6, 8, theme.soft, theme.line);
  for (const wall of walls) game.round(context, ...view.box(wall.column, wall.row, 1), 4, theme.line);
  if (!won) {
    const [x, y] = view.centre(apple.column, apple.row);
    game.disc(context, x, y, view.cell * 0.34, theme.colours[0]);
  }
  snake.forEach((part, i) => {
    game.round(context, ...view.box(part.column, part.row, 1.5), view.cell * 0.3, i ? theme.colours[3] : theme.accent);
  });
  const [x, y] = view.centre(snake[0].column, snake[0].row);
  game.disc(context, x + heading[0] * view.cell * 0.2, y + heading[1] * view.cell * 0.2, view.cell * 0.1, theme.paper);
}

game.arrows((dx, dy) => {
  if (dead || won || (dx === -heading[0] && dy === -heading[1])) return;
  turned = [dx, dy];
  if (!clock) clock = setInterval(tick, TICK_MS);
});

pilothouse.define({
  setup,
  state: () => ({ columns, rows, snake, heading, turned, apple, walls, eaten, dead, won, running: clock !== 0 }),
});
