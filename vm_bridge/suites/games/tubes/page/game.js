"use strict";

const HIGH = 4;
let tubes, picked, pours, won, board, places;

function setup(task) {
  const { colours } = task.slots, draw = pilothouse.random("tubes", task);
  const tints = draw.shuffle([...Array(8).keys()]).slice(0, colours);
  do {
    const drops = draw.shuffle(tints.flatMap((tint) => Array(HIGH).fill(tint)));
    tubes = tints.map((_, i) => drops.slice(i * HIGH, (i + 1) * HIGH));
  } while (tubes.some((tube) => new Set(tube).size === 1));
  tubes.push([], []);
  picked = null;
  pours = 0;
  won = false;
  game.title({ en: "Sort the tubes", zh: "试管分色" });
  board = game.canvas(paint);
  lay();
  board.element.addEventListener("click", (event) => {
    const x = event.clientX, y = event.clientY - board.top;
    const found = places.findIndex((box) => x >= box.x && x < box.x + box.width && y >= box.y && y < box.y + box.height);
    if (found >= 0) touch(found);
  });
  show();
}

function lay() {
  const { clientWidth: width, clientHeight: height } = game.stage, room = width / tubes.length;
  const wide = Math.min(room * 0.7, 64), high = Math.min(height * 0.7, wide * 4.4);
  places = tubes.map((_, i) => ({ x: Math.round(i * room + (room - wide) / 2), y: Math.round((height - high) / 2), width: wide, height: high }));
}

function touch(tube) {
  if (won) return;
  if (picked === null) picked = tubes[tube].length ? tube : null;
  else if (picked === tube) picked = null;
  else pour(picked, tube);
  show();
}

function pour(from, to) {
  const source = tubes[from], goal = tubes[to], colour = source.at(-1);
  picked = null;
  if (goal.length === HIGH || (goal.length && goal.at(-1) !== colour)) return;
  while (goal.length < HIGH && source.at(-1) === colour) goal.push(source.pop());
  pours++;
  won = tubes.every((tube) => !tube.length || (tube.length === HIGH && new Set(tube).size === 1));
  if (won) game.over(true);
}

function show() {
  game.status(pilothouse.say({ en: `Pours ${pours}`, zh: `倒了 ${pours} 次` }));
  board.again();
}

function paint(context) {
  const { theme } = pilothouse;
  tubes.forEach((tube, i) => {
    const { x, width, height } = places[i], y = places[i].y - (i === picked ? 10 : 0), unit = (height - 8) / HIGH;
    context.lineWidth = 3;
    game.round(context, x, y, width, height, width * 0.4, theme.soft, i === picked ? theme.ink : theme.line);
    tube.forEach((colour, level) => {
      const top = y + height - 5 - (level + 1) * unit;
      game.round(context, x + 5, top + 1, width - 10, unit - 2, level ? 4 : width * 0.32, theme.colours[colour]);
    });
  });
}

pilothouse.define({
  setup,
  state: () => ({
    high: HIGH, tubes, picked, pours, won,
    points: places.map((box) => ({ x: Math.round(box.x + box.width / 2), y: Math.round(board.top + box.y + box.height / 2) })),
  }),
});
