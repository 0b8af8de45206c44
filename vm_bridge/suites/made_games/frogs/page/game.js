"use strict";

const gridOf = (state) => game.grid(state.leaves.length, 1, { most: 110 });

madeGame.define({
  title: { en: "Frogs and toads", zh: "青蛙换位" },
  status: (state) => {
    const { gone, whole } = progress(state.leaves, state.frogs);
    return { en: `Gone ${gone} of ${whole} leaves`, zh: `已前进 ${gone} / ${whole} 片荷叶` };
  },
  targets(state) {
    const grid = gridOf(state);
    return Object.fromEntries(state.leaves.map((_, at) => [`leaf ${at}`, grid.box(at, 0)]));
  },
  draw(context, width, height, state) {
    const { theme } = pilothouse, grid = gridOf(state), { cell } = grid;
    state.leaves.forEach((animal, at) => {
      const [x, y] = grid.centre(at, 0);
      game.disc(context, x, y + cell * 0.1, cell * 0.45, theme.soft);
      game.round(context, ...grid.box(at, 0, cell * 0.04), cell * 0.45, null, theme.line);
      if (!animal) return;
      game.disc(context, x, y, cell * 0.3, animal > 0 ? theme.colours[3] : theme.colours[7]);
      game.disc(context, x + animal * cell * 0.2, y - cell * 0.16, cell * 0.11, "#ffffff");
      game.disc(context, x + animal * cell * 0.24, y - cell * 0.16, cell * 0.05, "#101418");
    });
  },
});
