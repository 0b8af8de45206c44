"use strict";

// One unit is one cell of ground. The runner's world goes in steps of 1/60 s, as many as the frames' time is worth.
const STEP_MS = 1000 / 60, SPEED = 6, JUMP = 9.5, PULL = 24, SIZE = 0.8;
let ground, blocks, flag, runner, held, started, last, owed, dead, won, board, unit;

function setup(task) {
  const draw = pilothouse.random("course", task), { length, gaps, blocks: crates } = task.slots;
  const kinds = draw.shuffle([...Array(gaps).fill("gap"), ...Array(crates).fill("block")]);
  ground = Array(length).fill(true);
  blocks = [];
  const room = (length - 8) / kinds.length;
  kinds.forEach((kind, i) => {
    const place = Math.floor(5 + i * room + draw.float() * Math.max(0, room - 6.5));
    if (kind === "gap") for (let width = draw.int(1, 2); width; width--) ground[place + width] = false;
    else blocks.push(place + 1);
  });
  flag = length - 2;
  runner = { x: 1, y: 0, up: 0, grounded: true };
  held = { left: false, right: false };
  started = dead = won = false;
  owed = 0;
  game.title({ en: "Platformer", zh: "平台跳跃" });
  board = game.canvas(paint);
  unit = Math.min(game.stage.clientHeight / 9, game.stage.clientWidth / 14);
  show();
}

const solid = (column) => column >= 0 && column < ground.length && ground[column];
const under = (x) => solid(Math.floor(x)) || solid(Math.floor(x + SIZE));
const blocked = (x, y) => blocks.some((block) => x + SIZE > block && x < block + 1 && y < 1 - 1e-6);

function move(seconds) {
  const by = ((held.right ? 1 : 0) - (held.left ? 1 : 0)) * SPEED * seconds;
  const x = Math.max(0, Math.min(ground.length - 1, runner.x + by));
  if (!blocked(x, runner.y)) runner.x = x;
  runner.up -= PULL * seconds;
  let y = runner.y + runner.up * seconds;
  const floor = runner.y >= 1 - 1e-6 && blocked(runner.x, 0) ? 1 : under(runner.x) ? 0 : -Infinity;
  runner.grounded = runner.y >= floor - 1e-6 && y <= floor;
  if (runner.grounded) {
    y = floor;
    runner.up = 0;
  }
  runner.y = y;
  dead = y < -2;
  won = runner.x + SIZE / 2 >= flag && y >= 0;
}

function frame(now) {
  owed += Math.min(now - last, 250);
  last = now;
  for (; owed >= STEP_MS - 0.01 && !dead && !won; owed -= STEP_MS) move(STEP_MS / 1000);
  show();
  if (dead || won) game.over(won);
  else requestAnimationFrame(frame);
}

function show() {
  const way = Math.max(0, Math.round(flag - runner.x));
  game.status(pilothouse.say({ en: `${way} m to the flag`, zh: `距离旗子 ${way} 米` }));
  board.again();
}

function paint(context, width, height) {
  const { theme } = pilothouse, floor = height - 2.2 * unit, left = Math.max(0, runner.x - 4) * unit;
  const at = (x) => Math.round(x * unit - left);
  ground.forEach((whole, x) => {
    if (!whole) return;
    context.fillStyle = theme.colours[7];
    context.fillRect(at(x), floor, Math.ceil(unit), height - floor);
    context.fillStyle = theme.good;
    context.fillRect(at(x), floor, Math.ceil(unit), unit * 0.2);
  });
  for (const block of blocks) game.round(context, at(block), floor - unit, unit, unit, 4, theme.colours[2]);
  game.round(context, at(flag), floor - 3 * unit, unit * 0.1, 3 * unit, 2, theme.ink);
  game.round(context, at(flag) + unit * 0.1, floor - 3 * unit, unit, unit * 0.7, 2, theme.bad);
  game.round(context, at(runner.x), floor - (runner.y + SIZE) * unit, SIZE * unit, SIZE * unit, unit * 0.2, theme.accent);
  game.disc(context, at(runner.x + 0.55), floor - (runner.y + 0.5) * unit, unit * 0.09, "#fff");
}

// What is on the screen, in cells from its left edge; how fast the runner is cannot be seen.
function describe() {
  const left = Math.max(0, runner.x - 4), width = board.element.width / unit, short = (number) => (Math.round(10 * number) / 10 + 0).toFixed(1);
  const shown = (x, wide) => x + wide > left && x < left + width;
  const list = (places) => places.map((x) => short(x - left)).join(", ") || "–";
  const inside = [...Array(Math.ceil(width) + 1).keys()].map((i) => Math.floor(left) + i).filter((x) => shown(x, 1));
  const gaps = list(inside.filter((x) => !solid(x))), crates = list(blocks.filter((x) => shown(x, 1)));
  const at = shown(flag, 1) ? short(flag - left) : "–", me = [short(runner.x - left), short(runner.y)];
  return game.words(
    pilothouse.say({
      en: `You: ${me[0]} from the left edge, ${me[1]} above the ground (a cell is as high as a block)`,
      zh: `你：距左边缘 ${me[0]} 格，高出地面 ${me[1]} 格（一格与方块同高）`,
    }),
    pilothouse.say({ en: `Cells without ground begin at: ${gaps}`, zh: `没有地面的格子始于：${gaps}` }),
    pilothouse.say({ en: `Blocks on the ground begin at: ${crates}`, zh: `地面上的方块始于：${crates}` }),
    pilothouse.say({ en: `Flag at: ${at}`, zh: `旗子位于：${at}` }),
  );
}

const SIDES = { ArrowLeft: "left", ArrowRight: "right" };
const jumps = (key) => key === "ArrowUp" || key === " ";

addEventListener("keydown", (event) => {
  if (!SIDES[event.key] && !jumps(event.key)) return;
  event.preventDefault();
  if (event.repeat || dead || won) return;
  if (SIDES[event.key]) held[SIDES[event.key]] = true;
  else if (runner.grounded) runner.up = JUMP;
  if (!started) {
    started = true;
    last = performance.now();
    requestAnimationFrame(frame);
  }
});
addEventListener("keyup", (event) => {
  if (SIDES[event.key]) held[SIDES[event.key]] = false;
});

pilothouse.define({ setup, describe, state: () => ({ ground, blocks, flag, runner, held, started, dead, won, size: SIZE }) });
