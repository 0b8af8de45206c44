"use strict";

const trayOf = (height) => Math.min(60, Math.floor(height / 5));

function targets(state, width, height) {
  const tray = trayOf(height), wide = Math.min(tray + 14, Math.floor(width / state.symbols));
  const left = Math.floor((width - wide * state.symbols) / 2);
  return Object.fromEntries(Array.from({ length: state.symbols }, (_, symbol) =>
    [`colour ${symbol}`, [left + symbol * wide + 3, height - tray, wide - 6, tray - 6]]));
}

madeGame.define({
  title: { en: "Vault", zh: "密码锁" },
  status: (state) => ({
    en: `Guess ${Math.min(state.rows.length + 1, state.most)} of ${state.most}`,
    zh: `第 ${Math.min(state.rows.length + 1, state.most)} / ${state.most} 次`,
  }),
  targets,
  draw(context, width, height, state) {
    const { theme } = pilothouse, places = state.code.length, tray = trayOf(height);
    const columns = places + Math.ceil(places / 2) + 0.5;
    const grid = game.grid(Math.ceil(columns), state.most, { height: height - tray - 6, most: 46 });
    for (let row = 0; row < state.most; row++) {
      const done = state.rows[row], shown = done ? done.guess : row === state.rows.length ? state.entry : [];
      for (let place = 0; place < places; place++) {
        const colour = shown[place];
        const fill = colour === undefined ? theme.soft : theme.colours[colour];
        game.round(context, ...grid.box(place, row, 2), grid.cell * 0.3, fill, theme.line);
      }
      if (!done) continue;
      for (let mark = 0; mark < done.exact + done.elsewhere; mark++) {
        const x = grid.left + (places + 0.4 + (mark >> 1) * 0.5) * grid.cell;
        const y = grid.top + (row + (mark % 2 ? 0.72 : 0.28)) * grid.cell;
        game.disc(context, x, y, grid.cell * 0.17, theme.ink);
        if (mark >= done.exact) game.disc(context, x, y, grid.cell * 0.1, theme.paper);
      }
    }
    for (const [action, box] of Object.entries(targets(state, width, height))) {
      game.round(context, ...box, 8, theme.colours[Number(action.split(" ")[1])], theme.line);
    }
  },
});
