"use strict";

// Slabs swing along x and z in turn; a slab is where its middle is and how long it is along both.
const REACH = 3.2, SPEED = 1.6, HIGH = 0.5, LEAST = 0.12;
const COLOURS = pilothouse.theme.colours.map(game.rgb);
let slabs, moving, started, last, lost, won, first, again;

function setup(task) {
  const draw = pilothouse.random("slabs", task);
  first = draw.int(0, 7);
  slabs = [{ x: 0, z: 0, long: 2, wide: 2 }];
  started = lost = won = false;
  game.title({ en: "Tower", zh: "叠高塔" });
  again = solids.scene(paint);
  swing(draw.chance(0.5) ? 1 : -1);
  show();
}

function swing(side) {
  const below = slabs.at(-1), axis = slabs.length % 2 ? "x" : "z";
  moving = { ...below, axis, way: -side, side };
  moving[axis] = below[axis] + side * REACH;
}

function frame(now) {
  const ms = Math.min(now - last, 100), below = slabs.at(-1);
  last = now;
  moving[moving.axis] += (moving.way * SPEED * ms) / 1000;
  const off = moving[moving.axis] - below[moving.axis];
  if (Math.abs(off) > REACH) {
    moving[moving.axis] = below[moving.axis] + Math.sign(off) * (2 * REACH - Math.abs(off));
    moving.way = -Math.sign(off);
  }
  again();
  if (!lost && !won) requestAnimationFrame(frame);
}

function drop() {
  const below = slabs.at(-1), { axis } = moving, size = axis === "x" ? "long" : "wide";
  const off = moving[axis] - below[axis], over = below[size] - Math.abs(off);
  if (over < LEAST) {
    lost = true;
  } else {
    slabs.push({ x: moving.x, z: moving.z, long: moving.long, wide: moving.wide, [axis]: below[axis] + off / 2, [size]: over });
    won = slabs.length > TASK.slots.goal;
  }
  if (lost || won) game.over(won);
  else swing(moving.side * (slabs.length % 2 ? 1 : -1));
  show();
}

function show() {
  const floors = slabs.length - 1;
  game.status(pilothouse.say({ en: `Floors ${floors} of ${TASK.slots.goal}`, zh: `层数 ${floors} / ${TASK.slots.goal}` }));
  again();
}

function paint(solid, look) {
  const top = slabs.length * HIGH;
  look([6.5, top + 4.2, 6.5], [0, top - 0.6, 0]);
  const lay = (slab, floor) => solid("box", [slab.x, floor * HIGH, slab.z], [slab.long, HIGH * 0.96, slab.wide], COLOURS[(first + floor) % 8]);
  slabs.forEach(lay);
  if (!won) lay(moving, slabs.length);
}

addEventListener("keydown", (event) => {
  if (event.key !== " " || event.repeat || lost || won) return;
  event.preventDefault();
  if (started) return drop();
  started = true;
  last = performance.now();
  requestAnimationFrame(frame);
});

pilothouse.define({ setup, state: () => ({ slabs, moving, started, lost, won, speed: SPEED, reach: REACH, least: LEAST }) });
