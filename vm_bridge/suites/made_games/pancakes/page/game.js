"use strict";

function boxOf(state, at, width, height) {
  const count = state.stack.length, high = Math.min(54, Math.floor((height - 12) / count));
  const wide = Math.round(Math.min(width - 20, 520) * (0.25 + (0.75 * state.stack[at]) / count));
  return [Math.floor((width - wide) / 2), Math.floor((height - high * count) / 2) + at * high + 2, wide, high - 4];
}

madeGame.define({
  title: { en: "Pancakes", zh: "煎饼排序" },
  status: (state) => ({
    en: `In place ${state.score} of ${state.stack.length} · flips left ${state.left}`,
    zh: `已就位 ${state.score} / ${state.stack.length} · 剩余翻转 ${state.left}`,
  }),
  targets: (state, width, height) =>
    Object.fromEntries(state.stack.map((_, at) => [`flip ${at + 1}`, boxOf(state, at, width, height)])),
  draw(context, width, height, state) {
    const { theme } = pilothouse;
    state.stack.forEach((size, at) => {
      const box = boxOf(state, at, width, height), fill = theme.colours[[2, 5, 7][size % 3]];
      game.round(context, ...box, box[3] * 0.45, fill, theme.line);
      game.write(context, String(size), width / 2, box[1] + box[3] / 2, box[3] * 0.5, game.upon(fill));
    });
  },
});
