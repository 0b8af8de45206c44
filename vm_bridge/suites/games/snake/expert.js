"use strict";

// The shortest way to the apple if the snake still reaches its tail from there, else the way with the most room.
const WAYS = [
  { key: "up", zh: "上", dx: 0, dy: -1 }, { key: "down", zh: "下", dx: 0, dy: 1 },
  { key: "left", zh: "左", dx: -1, dy: 0 }, { key: "right", zh: "右", dx: 1, dy: 0 },
];

function advise(state) {
  const { columns, rows, snake, apple } = state;
  const at = (column, row) => row * columns + column;
  const blocked = new Set([...snake.slice(0, -1), ...state.walls].map((cell) => at(cell.column, cell.row)));
  const free = (column, row, shut) => column >= 0 && row >= 0 && column < columns && row < rows && !shut.has(at(column, row));

  // How far every cell is from one that is free.
  function distances(column, row, shut) {
    const far = new Map([[at(column, row), 0]]), queue = [[column, row]];
    for (const [x, y] of queue) {
      for (const { dx, dy } of WAYS) {
        if (!free(x + dx, y + dy, shut) || far.has(at(x + dx, y + dy))) continue;
        far.set(at(x + dx, y + dy), far.get(at(x, y)) + 1);
        queue.push([x + dx, y + dy]);
      }
    }
    return far;
  }

  const head = snake[0], goal = at(apple.column, apple.row);
  const choices = WAYS.filter(({ dx, dy }) => {
    const back = dx === -state.heading[0] && dy === -state.heading[1];
    return !back && free(head.column + dx, head.row + dy, blocked);
  }).map((way) => {
    const shut = new Set(blocked).add(at(head.column, head.row));
    const far = distances(head.column + way.dx, head.row + way.dy, shut);
    return { way, room: far.size, steps: far.has(goal) && far.size > snake.length ? far.get(goal) : Infinity };
  });
  choices.sort((one, other) => one.steps - other.steps || other.room - one.room);
  const best = choices[0];
  const way = best ? best.way : WAYS[3];
  const reached = best && best.steps < Infinity;
  return {
    thought: reached
      ? { en: `The apple is ${best.steps + 1} steps away; ${way.key} leads to it.`, zh: `苹果还有 ${best.steps + 1} 步，向${way.zh}走。` }
      : { en: `The way to the apple is shut; ${way.key} leaves the most room.`, zh: `去苹果的路被挡住了，向${way.zh}空间最大。` },
    action: { kind: "press_keys", keys: [way.key] },
  };
}
