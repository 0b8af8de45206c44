"use strict";

const parts = (width, height) => {
  const tray = Math.min(64, Math.floor(height / 5));
  return { tray, board: { width, height: height - tray - 8 } };
};

function gridOf(state, width, height) {
  return game.grid(state.size, state.size, { ...parts(width, height).board, most: 70 });
}

function targets(state, width, height) {
  const { tray } = parts(width, height), wide = Math.min(tray + 12, Math.floor(width / state.colours));
  const left = Math.floor((width - wide * state.colours) / 2);
  return Object.fromEntries(Array.from({ length: state.colours }, (_, colour) =>
    [`colour ${colour}`, [left + colour * wide + 4, height - tray, wide - 8, tray - 6]]));
}

madeGame.define({
  title: { en: "Flood", zh: "染色" },
  status: (state) => ({
    en: `Filled ${state.score} of ${state.cells.length} · moves left ${state.left}`,
    zh: `已填 ${state.score} / ${state.cells.length} · 剩余步数 ${state.left}`,
  }),
  targets,
  draw(context, width, height, state) {
    const { colours, line } = pilothouse.theme, grid = gridOf(state, width, height);
    state.cells.forEach((colour, at) => {
      game.round(context, ...grid.box(at % state.size, Math.floor(at / state.size), 1), 3, colours[colour]);
    });
    for (const [action, box] of Object.entries(targets(state, width, height))) {
      game.round(context, ...box, 8, colours[Number(action.split(" ")[1])], line);
    }
  },
});
