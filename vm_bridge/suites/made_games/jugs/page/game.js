"use strict";

const NAMES = ["A", "B", "C"];

// The column of a jug, and the height of its row of buttons.
function column(state, jug, width, height) {
  const wide = Math.min(190, Math.floor(width / state.sizes.length)), left = Math.floor((width - wide * state.sizes.length) / 2);
  return { x: left + jug * wide, wide, row: Math.max(28, Math.min(46, Math.floor(height / 7))) };
}

function targets(state, width, height) {
  const found = {}, jugs = [...state.sizes.keys()];
  for (const jug of jugs) {
    const { x, wide, row } = column(state, jug, width, height), others = jugs.filter((one) => one !== jug);
    const place = (across, of, down) => [x + 4 + Math.floor((across * (wide - 8)) / of), height - (2 - down) * row, Math.floor((wide - 8) / of) - 3, row - 4];
    found[`fill ${jug}`] = place(0, 2, 0);
    found[`empty ${jug}`] = place(1, 2, 0);
    others.forEach((other, i) => { found[`pour ${jug} ${other}`] = place(i, others.length, 1); });
  }
  return found;
}

madeGame.define({
  title: { en: "Jugs", zh: "倒水" },
  status: (state) => ({
    en: `Wanted ${state.goal} litres · moves left ${state.left}`, zh: `需要 ${state.goal} 升 · 剩余步数 ${state.left}`,
  }),
  targets,
  draw(context, width, height, state) {
    const { theme } = pilothouse, tallest = Math.max(...state.sizes);
    state.sizes.forEach((size, jug) => {
      const { x, wide, row } = column(state, jug, width, height), unit = (height - 2 * row - 34) / tallest;
      const left = x + wide * 0.25, bottom = height - 2 * row - 8, across = wide * 0.5;
      game.round(context, left, bottom - state.held[jug] * unit, across, state.held[jug] * unit, 0, theme.colours[6]);
      game.round(context, left, bottom - size * unit, across, size * unit, 4, null, theme.ink);
      game.write(context, `${NAMES[jug]} ${state.held[jug]}/${size}`, x + wide / 2, bottom - size * unit - 10, 14, theme.ink);
    });
    for (const [action, box] of Object.entries(targets(state, width, height))) {
      const [what, , other] = action.split(" "), sign = { fill: "+", empty: "−" }[what] || `→ ${NAMES[other]}`;
      game.round(context, ...box, 6, theme.soft, theme.line);
      game.write(context, sign, box[0] + box[2] / 2, box[1] + box[3] / 2, Math.min(18, box[3] * 0.6), theme.ink);
    }
  },
});
