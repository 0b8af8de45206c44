"use strict";

const gridOf = (state) => game.grid(state.heaps.length, state.tallest, { most: 74 });

madeGame.define({
  title: { en: "Last stone", zh: "最后一颗石子" },
  status: (state) => ({
    en: state.reply ? `The machine took ${state.reply.count} of heap ${state.reply.heap + 1}` : `Your turn`,
    zh: state.reply ? `机器从第 ${state.reply.heap + 1} 堆拿走了 ${state.reply.count} 颗` : `轮到你了`,
  }),
  targets(state) {
    const grid = gridOf(state), found = {};
    state.heaps.forEach((heap, column) => {
      for (let i = 0; i < heap; i++) {
        found[`heap ${column} take ${heap - i}`] = grid.box(column, state.tallest - 1 - i);
      }
    });
    return found;
  },
  draw(context, width, height, state) {
    const { theme } = pilothouse, grid = gridOf(state);
    state.heaps.forEach((heap, column) => {
      const [x, y, wide, high] = grid.box(column, state.tallest - 1);
      game.round(context, x, y + high - 3, wide, 3, 1, theme.line);
      for (let i = 0; i < heap; i++) {
        const box = grid.box(column, state.tallest - 1 - i, grid.cell * 0.08);
        game.round(context, ...box, grid.cell * 0.35, theme.colours[column % 8], theme.line);
      }
    });
  },
});
