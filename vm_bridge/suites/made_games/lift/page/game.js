"use strict";

madeGame.define({
  title: { en: "Lift", zh: "电梯" },
  status: (state) => ({
    en: `Served ${state.served} of ${state.people} · moves left ${state.left}`,
    zh: `已送达 ${state.served} / ${state.people} · 剩余步数 ${state.left}`,
  }),
  keys: { ArrowUp: "up", ArrowDown: "down", " ": "open" },
  draw(context, width, height, state) {
    const { theme } = pilothouse, grid = game.grid(state.people + 3, state.floors, { most: 76 });
    const person = (column, row, to) => {
      const [x, y] = grid.centre(column, row);
      game.disc(context, x, y, grid.cell * 0.36, theme.colours[to % 8]);
      game.write(context, String(to + 1), x, y, grid.cell * 0.4, game.upon(theme.colours[to % 8]));
    };
    for (let floor = 0; floor < state.floors; floor++) {
      const row = state.floors - 1 - floor, here = floor === state.at;
      const [x, y] = grid.centre(0, row);
      game.write(context, String(floor + 1), x, y, grid.cell * 0.45, theme.ink);
      for (const column of [1, 2]) game.round(context, ...grid.box(column, row, 1), 2, here ? theme.line : theme.soft);
      if (here) state.inside.forEach((to, i) => person(1 + i, row, to));
      state.waiting.filter((one) => one.at === floor).forEach((one, i) => person(3 + i, row, one.to));
      const [left, , , cell] = grid.box(0, row);
      game.round(context, left, grid.top + (row + 1) * grid.cell - 1, cell * (state.people + 3), 1, 0, theme.line);
    }
  },
});
