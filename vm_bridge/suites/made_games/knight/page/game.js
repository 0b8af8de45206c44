"use strict";

const gridOf = (state) => game.grid(state.size, state.size, { most: 90 });
const cellOf = (state, square) => [square % state.size, Math.floor(square / state.size)];

madeGame.define({
  title: { en: "Knight", zh: "骑士" },
  status: (state) => ({
    en: `Taken ${state.score} of ${state.count} · moves left ${state.left}`,
    zh: `已吃 ${state.score} / ${state.count} · 剩余步数 ${state.left}`,
  }),
  targets(state) {
    const grid = gridOf(state);
    return Object.fromEntries([...Array(state.size ** 2).keys()].map((square) => [`square ${square}`, grid.box(...cellOf(state, square))]));
  },
  draw(context, width, height, state) {
    const { theme } = pilothouse, grid = gridOf(state), { cell } = grid;
    for (let square = 0; square < state.size ** 2; square++) {
      const [column, row] = cellOf(state, square);
      game.round(context, ...grid.box(column, row), 0, (column + row) % 2 ? theme.line : theme.soft);
    }
    for (const pawn of state.pawns) {
      const [x, y] = grid.centre(...cellOf(state, pawn));
      game.disc(context, x, y - cell * 0.14, cell * 0.15, theme.bad);
      game.round(context, x - cell * 0.2, y, cell * 0.4, cell * 0.28, cell * 0.08, theme.bad);
    }
    const [x, y] = grid.centre(...cellOf(state, state.at));
    game.disc(context, x, y, cell * 0.38, theme.accent);
    game.write(context, "♞", x, y, cell * 0.5, theme.onAccent);
  },
});
