// Icons with their names below, as on a home screen; one of the programs is to be opened.
"use strict";

const { h } = Kit;

const COLUMNS = 4, ROWS = 3;

function make(rng, task) {
  const places = rng.shuffle(Array.from({ length: COLUMNS * ROWS }, (_, i) => i));
  const icons = task.slots.names.map((name, i) => ({ name, place: places[i], colour: rng.pick(pilothouse.theme.colours), shape: rng.pick(["0", "25%", "50%"]), x: rng.int(-6, 6), y: rng.int(-6, 6) }));
  return { icons, opened: null };
}

Kit.open({
  name: "icons",
  words: { en: { title: "Programs" }, zh: { title: "程序" } },
  make,
  view: (m) => h("main", {}, m.icons.map(({ name, place, colour, shape, x, y }) =>
    h("button.icon", { at: name, style: `left:${4 + (place % COLUMNS) * 78 + x}px;top:${8 + Math.floor(place / COLUMNS) * 76 + y}px`, "aria-pressed": String(m.opened === name), on: { click: () => (m.opened ??= name) } },
      h("span.face", { style: `background:${colour};border-radius:${shape}` }), h("span.name", {}, name)))),
});
